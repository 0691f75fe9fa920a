#pragma once

#include <array>
#include <optional>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// What happens when a rank has no memory left for a window.
enum class WhenFull {
  ladder,  ///< all ranks give the window up, take the next rung together and try it again
  stop,    ///< the run ends with an error that says what was needed
};

constexpr auto enum_names(WhenFull) {
  return std::to_array<std::pair<WhenFull, std::string_view>>({{WhenFull::ladder, "ladder"}, {WhenFull::stop, "stop"}});
}

/// A way to save memory that has a price.
enum class Saving {
  never,
  when_full,  ///< a rung of the ladder: on from the first window that does not fit otherwise
  always,
};

constexpr auto enum_names(Saving) {
  return std::to_array<std::pair<Saving, std::string_view>>(
      {{Saving::never, "never"}, {Saving::when_full, "when_full"}, {Saving::always, "always"}});
}

/// Section `memory`.
struct MemoryOptions {
  std::optional<Bytes> limit{};
  double target = 0.9;
  WhenFull when_full = WhenFull::ladder;
  Saving bf16 = Saving::never;
  Saving recompute = Saving::never;
};

template <class Visitor>
void visit_fields(Visitor& visit, MemoryOptions& options) {
  visit("limit", options.limit,
        "memory of one rank's tensors on its device; auto: on a CPU what the control group or the node has left, shared by the "
        "ranks of the node, on a GPU the device",
        at_least(1));
  visit("target", options.target, "part of the limit that a batch may use by plan", between(0.01, 1));
  visit(
      "when_full", options.when_full,
      "ladder: give the window up on all ranks, release caches or halve the micro-batch, and try it again; stop: end the run");
  visit("bf16", options.bf16, "forward and backward in bfloat16 where LibTorch's autocast allows it; changes results");
  visit("recompute", options.recompute,
        "activations inside ddpkit::recomputed(...) are computed again in backward; costs time");
}

}  // namespace ddpkit
