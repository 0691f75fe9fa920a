#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ddpkit/batch/batch_profile.hpp"

namespace ddpkit {

struct SweepOptions {
  std::int64_t min_micro = 1;
  std::int64_t max_micro = 0;     ///< 0: no limit but memory
  double efficiency = 0.9;        ///< of the knee
  std::int64_t memory_limit = 0;  ///< bytes of the rank with the least; 0: not known
  double memory_target = 0.9;
  std::vector<std::int64_t> wanted{};  ///< sizes that will be chosen among, such as the divisors of a local batch
};

/// Which micro-batches to measure, one after the other: doubling until the throughput is flat, memory is used up or the
/// largest size is reached; then around the knee; then, by prediction and bisection, the largest size that fits. A pure state
/// machine: ranks that observe the same take the same course.
///
///     while (const auto micro = sweep.next()) sweep.observe(measure(*micro));   // or observe_out_of_memory(*micro)
class Sweep {
 public:
  /// Throws ConfigError when min_micro exceeds max_micro.
  explicit Sweep(const SweepOptions& options);

  /// The next size to try; empty when all is known.
  std::optional<std::int64_t> next() const;

  void observe(const MicroMeasurement& measurement);
  void observe_out_of_memory(std::int64_t micro);

  /// In rising order.
  const std::vector<MicroMeasurement>& measured() const noexcept { return measured_; }
  const std::vector<std::int64_t>& out_of_memory() const noexcept { return out_of_memory_; }

  /// The largest size that ran, where a larger one did not or would exceed the limit; empty while memory was never the bound.
  std::optional<std::int64_t> largest_feasible() const;

 private:
  SweepOptions options_;
  std::vector<MicroMeasurement> measured_;
  std::vector<std::int64_t> out_of_memory_;
};

}  // namespace ddpkit
