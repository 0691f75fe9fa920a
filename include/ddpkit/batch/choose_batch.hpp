#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/batch/batch_profile.hpp"

namespace ddpkit {

/// One way to make the wanted global batch, and what the profile predicts for it.
struct RatedPlan {
  BatchPlan plan;
  double step_seconds = 0;        ///< accumulate x t(micro) + communication + update
  double samples_per_second = 0;  ///< over all ranks
  double efficiency = 0;          ///< samples per second over those of the fastest plan that fits
  double peak_bytes = 0;          ///< 0: not known
  double memory_share = 0;        ///< of the limit
  bool fits = true;               ///< within memory_target
};

struct BatchChoice {
  RatedPlan chosen;
  std::vector<RatedPlan> others;  ///< all legal ones, by rising micro-batch, the chosen one included
  std::string explanation;        ///< "micro 96: 91 % of the plateau, 78 % of memory; 128 would gain 2 % and needs 97 %"
};

/// The smallest micro-batch that fits and reaches `profile.knee_efficiency` of the fastest plan that fits: more costs memory
/// and gains little. Pure. Throws ConfigError that says what to change when no whole numbers make `global` on `world_size`
/// ranks, or none of those fits.
BatchChoice choose_batch(const BatchProfile& profile, std::int64_t global, std::int64_t world_size);

}  // namespace ddpkit
