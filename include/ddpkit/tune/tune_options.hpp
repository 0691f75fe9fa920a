#pragma once

#include <chrono>
#include <cstdint>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// Section `tune`: how the verbs `probe` and `tune` measure.
struct TuneOptions {
  double efficiency = 0.9;
  double precision = 0.03;
  std::chrono::milliseconds budget = std::chrono::seconds(120);
  std::int64_t min_micro = 1;
  std::int64_t max_micro = 0;
  std::int64_t warmup = 2;
};

template <class Visitor>
void visit_fields(Visitor& visit, TuneOptions& options) {
  visit("efficiency", options.efficiency,
        "the knee: part of the plateau's samples per second at which a micro-batch is large enough", between(0.01, 0.999));
  visit("precision", options.precision,
        "a size is measured until the 95 % interval of its rate is at most so wide to each side", between(0.001, 1));
  visit("budget", options.budget, "time for the whole search; sizes that are not reached are left out", at_least(1));
  visit("min_micro", options.min_micro, "smallest micro-batch that is tried", at_least(1));
  visit("max_micro", options.max_micro, "largest micro-batch that is tried; 0: what memory and data allow", at_least(0));
  visit("warmup", options.warmup, "windows before those that count, for each size", at_least(0));
}

}  // namespace ddpkit
