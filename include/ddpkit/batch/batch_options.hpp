#pragma once

#include <cstdint>
#include <optional>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// Section `batch`: global = micro x accumulate x world size. What is left `auto` is solved for.
struct BatchOptions {
  std::int64_t global = 256;
  std::optional<std::int64_t> micro{};
  std::optional<std::int64_t> accumulate{};
};

template <class Visitor>
void visit_fields(Visitor& visit, BatchOptions& options) {
  visit("global", options.global, "samples in one optimizer step, over all ranks", at_least(1));
  visit("micro", options.micro, "samples one rank puts through one forward and backward; auto: as large as the other two allow",
        at_least(1));
  visit("accumulate", options.accumulate, "micro-batches per rank in one step; auto: global / (micro x ranks)", at_least(1));
}

}  // namespace ddpkit
