#pragma once

#include <array>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// What happens when a loss or a gradient is not finite on any rank. All ranks do the same.
enum class NonFinite {
  stop,  ///< the run ends with status 80 before any update
  skip,  ///< the update is left out, the step counts
};

constexpr auto enum_names(NonFinite) {
  return std::to_array<std::pair<NonFinite, std::string_view>>({{NonFinite::stop, "stop"}, {NonFinite::skip, "skip"}});
}

/// Section `step`.
struct StepperOptions {
  double clip_norm = 0;  ///< largest global gradient norm; 0: no clipping
  NonFinite non_finite = NonFinite::stop;
};

template <class Visitor>
void visit_fields(Visitor& visit, StepperOptions& options) {
  visit("clip_norm", options.clip_norm, "gradients are scaled down to this global norm, once, after reduction; 0: never",
        at_least(0));
  visit("non_finite", options.non_finite,
        "a loss or gradient that is not finite on any rank: stop with status 80, or skip the update");
}

}  // namespace ddpkit
