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
/// largest size is reached; then around the knee; then the wanted sizes around the best of them; then, where memory was the
/// bound, the largest size that fits, by prediction and bisection. A size fits when it ran and its peak is within the target.
/// None that is predicted not to fit is tried, but the one that shows which is the largest. A pure state machine: ranks that
/// observe the same take the same course.
///
///     while (const auto micro = sweep.next()) sweep.observe(measure(*micro));   // or observe_out_of_memory(*micro)
class Sweep {
 public:
  /// Throws ConfigError when min_micro is not positive or exceeds max_micro.
  explicit Sweep(const SweepOptions& options);

  /// The next size to try; empty when all is known.
  std::optional<std::int64_t> next() const noexcept { return next_; }

  /// Both are about the size that next() asked for, and throw UsageError for another.
  void observe(const MicroMeasurement& measurement);
  void observe_out_of_memory(std::int64_t micro);

  /// In rising order.
  const std::vector<MicroMeasurement>& measured() const noexcept { return measured_; }
  const std::vector<std::int64_t>& out_of_memory() const noexcept { return out_of_memory_; }

  /// The largest size that fits, where a larger one did not; 0 when not even the smallest did; empty while memory was never the
  /// bound.
  std::optional<std::int64_t> largest_feasible() const;

 private:
  /// Where the search stands; it passes from one to the next when one proposes no size.
  enum class Phase {
    grow,    ///< doubling
    knee,    ///< between the neighbours of the knee
    wanted,  ///< among the sizes that will be chosen among
    bound,   ///< between the largest size that fits and the smallest that does not
    done,
  };

  void check_asked(std::int64_t micro) const;
  void advance();
  std::optional<std::int64_t> propose() const;
  std::optional<std::int64_t> propose_growth() const;
  std::optional<std::int64_t> propose_knee() const;
  std::optional<std::int64_t> propose_wanted() const;
  std::optional<std::int64_t> propose_bound() const;

  bool fits(const MicroMeasurement& at) const;
  std::vector<MicroMeasurement> fitting() const;
  std::int64_t largest_fitting() const;
  std::int64_t smallest_failing() const;
  std::int64_t predicted_largest() const;
  std::int64_t doubled() const;
  double allowed_bytes() const;
  std::vector<std::int64_t> wanted_within_bound() const;
  bool is_known(std::int64_t micro) const;
  bool is_flat() const;

  SweepOptions options_;
  std::int64_t max_;
  std::vector<MicroMeasurement> measured_;
  std::vector<std::int64_t> out_of_memory_;
  Phase phase_ = Phase::grow;
  int tries_ = 0;  // sizes proposed in this phase
  std::optional<std::int64_t> next_;
};

}  // namespace ddpkit
