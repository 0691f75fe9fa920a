#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// What rank 0 shows while it works.
enum class ProgressDisplay {
  automatic,  ///< a bar on a terminal, lines otherwise
  bar,
  lines,
  off,
};

constexpr auto enum_names(ProgressDisplay) {
  return std::to_array<std::pair<ProgressDisplay, std::string_view>>({{ProgressDisplay::automatic, "auto"},
                                                                      {ProgressDisplay::bar, "bar"},
                                                                      {ProgressDisplay::lines, "lines"},
                                                                      {ProgressDisplay::off, "off"}});
}

/// Section `metrics`.
struct MetricOptions {
  std::int64_t every = 10;
  ProgressDisplay progress = ProgressDisplay::automatic;
  std::chrono::milliseconds progress_every = std::chrono::seconds(5);
  bool jsonl = true;
  bool tensorboard = true;
  bool noise_scale = false;
  std::int64_t noise_steps = 100;
};

template <class Visitor>
void visit_fields(Visitor& visit, MetricOptions& options) {
  visit("every", options.every, "steps between records of training metrics", at_least(1));
  visit("progress", options.progress, "what rank 0 shows: auto is a bar on a terminal and plain lines otherwise");
  visit("progress_every", options.progress_every, "time between plain progress lines", at_least(1));
  visit("jsonl", options.jsonl, "write metrics.jsonl in the run folder");
  visit("tensorboard", options.tensorboard, "write TensorBoard event files in the run folder");
  visit("noise_scale", options.noise_scale,
        "measure the gradient noise scale, which says how large a global batch is worth it");
  visit("noise_steps", options.noise_steps, "steps over which the noise scale is smoothed", at_least(2));
}

}  // namespace ddpkit
