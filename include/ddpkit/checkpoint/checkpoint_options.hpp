#pragma once

#include <cstdint>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// Section `checkpoint`.
struct CheckpointOptions {
  Extent every = {1, Extent::Unit::epochs};
  std::int64_t keep = 2;
  bool best = true;
};

template <class Visitor>
void visit_fields(Visitor& visit, CheckpointOptions& options) {
  visit("every", options.every, "steps or epochs between checkpoints; 0: only at the end", at_least(0));
  visit("keep", options.keep, "newest checkpoints that are kept; the best one is kept as well", at_least(1));
  visit("best", options.best, "keep the weights with the best monitored metric");
}

}  // namespace ddpkit
