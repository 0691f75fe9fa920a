#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ddpkit/batch/plan_list.hpp"

namespace ddpkit::tool {

/// What a user of `ddpkit plan` has typed.
struct PlanArguments {
  PlanQuery query{};
  std::optional<std::int64_t> dataset{};
  std::optional<Tail> tail{};
  std::optional<double> lr{};
  std::optional<std::int64_t> reference_batch{};
  std::optional<Scaling> scaling{};
  std::optional<Extent> warmup{};
  std::optional<std::int64_t> epochs{};
  std::optional<Bytes> memory_limit{};
  std::string profile{};  ///< file; empty: none
  std::string config{};
};

/// Reads the run file with its data and the profile that are named, and fills from them what was not typed; data that cannot be
/// read are told on standard error. Throws UsageError for numbers
/// that cannot be, and what reading the files throws.
PlanRequest make_request(const PlanArguments& arguments);

}  // namespace ddpkit::tool
