#pragma once

#include <cstdint>
#include <optional>

#include "ddpkit/batch/noise_scale.hpp"
#include "ddpkit/reduce/reducer.hpp"
#include "ddpkit/step/ballot.hpp"
#include "ddpkit/step/step_result.hpp"

namespace ddpkit {

enum class GradientNoise { ignored, measured };

/// Takes from a window the two norms of the noise scale. The small batch is each rank's share of the window; where there is one
/// rank, the window's first micro-batch.
class NoiseProbe {
 public:
  /// `reducer` must outlive the probe.
  explicit NoiseProbe(Reducer& reducer) : reducer_(reducer) {}

  void set(GradientNoise noise) noexcept { noise_ = noise; }

  /// A window begins. `expected_count`: micro-batches weigh count / expected_count.
  void open(std::int64_t micro_batches, double expected_count);

  /// Micro-batch `index` comes next, or the window's end. The scope has to live while it is back-propagated.
  std::optional<Reducer::Scope> reach(std::int64_t index, Ballot& ballot);

  /// From the ballot of all ranks and the result, whose grad_norm is that of the mean gradient. None where the small batches
  /// are not equal parts of the window.
  std::optional<NoiseObservation> observe(const Ballot& ballot, const StepResult& result) const;

 private:
  int ranks() const { return reducer_.channels().control.world_size(); }
  std::int64_t parts() const { return ranks() > 1 ? ranks() : micro_batches_; }
  std::int64_t small_batch_end() const { return ranks() > 1 ? micro_batches_ : 1; }
  bool watching() const { return noise_ == GradientNoise::measured && parts() > 1; }

  Reducer& reducer_;
  GradientNoise noise_ = GradientNoise::ignored;
  std::int64_t micro_batches_ = 0;
  double expected_count_ = 0;
  double count_ = 0;  // of this rank's small batch
  double rows_ = 0;
};

}  // namespace ddpkit
