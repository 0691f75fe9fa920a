#pragma once

#include <cstdint>
#include <span>
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
  double efficiency = 0;          ///< samples per second over those on the plateau, with the same communication and update
  double peak_bytes = 0;          ///< as measured at this size, else predicted; 0: not known
  double memory_share = 0;        ///< of the limit; 0: not known
  bool fits = true;               ///< within memory_target
};

struct BatchChoice {
  RatedPlan chosen;
  std::vector<RatedPlan> others;  ///< all legal ones, by rising micro-batch, the chosen one included
  std::string explanation;        ///< "micro 96: 91 % of the plateau, 78 % of memory; 128 would gain 2 % and needs 97 %"
};

/// The smallest micro-batch that fits and reaches `profile.knee_efficiency`: more costs memory and gains little. Where none of
/// those that fit does, the smallest within 1 % of the fastest. Sizes beyond the largest measured one fit when their predicted
/// peak does; without a known limit and peaks, never. A size below the smallest measured one is chosen for want of others: the
/// nearest to it. Pure. Throws ConfigError that says what to change when no whole numbers make `global` on `world_size` ranks,
/// or none of those fits.
BatchChoice choose_batch(const BatchProfile& profile, std::int64_t global, std::int64_t world_size);

/// What the profile predicts for plans, in their order. Pure. Throws ConfigError where nothing was measured.
std::vector<RatedPlan> rate_plans(const BatchProfile& profile, std::span<const BatchPlan> plans);

/// As choose_batch, among plans that were rated, of which there is at least one.
BatchChoice choose_among(const BatchProfile& profile, std::vector<RatedPlan> plans);

}  // namespace ddpkit
