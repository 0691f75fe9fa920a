#pragma once

#include <cstdint>
#include <optional>

namespace ddpkit {

/// What is known of global = micro x accumulate x world. What is left out is solved for.
struct PlanQuery {
  std::optional<std::int64_t> global{};
  std::optional<std::int64_t> micro{};
  std::optional<std::int64_t> max_micro{};  ///< no micro-batch above it, whether it is given or solved for
  std::optional<std::int64_t> accumulate{};
  std::optional<std::int64_t> world{};
};

}  // namespace ddpkit
