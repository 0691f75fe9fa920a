#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ddpkit/batch/step_prediction.hpp"

namespace ddpkit::tool {

/// What a user of `ddpkit simulate` has typed.
struct SimulateArguments {
  std::string profile{};  ///< file
  std::string cluster{};  ///< file
  std::string config{};   ///< file; empty: none
  std::string ranks{};    ///< "8,64,512"; empty: doubling up to the whole cluster
  std::optional<std::int64_t> baseline{};
  std::optional<std::int64_t> bucket_mib{};
  std::optional<std::int64_t> tail_kib{};
  std::optional<Cutting> plan{};
  std::optional<AllReduce> all_reduce{};
  std::optional<double> jitter{};
};

/// Reads the files that are named. What was typed overrules them. Throws UsageError for numbers that cannot be, ConfigError
/// where the run file names another model than the profile, and what reading the files throws.
PredictionRequest make_request(const SimulateArguments& arguments);

}  // namespace ddpkit::tool
