#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// Whether a metric gets better by falling or by rising.
enum class Better { lower, higher };

constexpr auto enum_names(Better) {
  return std::to_array<std::pair<Better, std::string_view>>({{Better::lower, "lower"}, {Better::higher, "higher"}});
}

/// How the names in `run.init_from` have to agree with the model's.
enum class InitMatch {
  strict,   ///< the same names on both sides
  by_name,  ///< names on one side only are passed over
};

constexpr auto enum_names(InitMatch) {
  return std::to_array<std::pair<InitMatch, std::string_view>>(
      {{InitMatch::strict, "strict"}, {InitMatch::by_name, "by_name"}});
}

/// Section `run`.
struct RunOptions {
  std::string name = "run";
  std::int64_t seed = 0;
  std::int64_t epochs = 1;
  std::int64_t steps = 0;  ///< 0: as many as the epochs give
  std::string dir = "runs";
  std::string resume{};     ///< "latest", a run folder or a checkpoint folder; empty: start anew
  std::string init_from{};  ///< safetensors file with initial weights
  InitMatch init_match = InitMatch::strict;
  std::int64_t threads = 0;     ///< intra-op threads per rank; 0: OMP_NUM_THREADS, else cores allowed / ranks on the node
  bool flush_denormals = true;  ///< numbers below 1.2e-38 are taken for zero on a CPU
};

template <class Visitor>
void visit_fields(Visitor& visit, RunOptions& options) {
  visit("name", options.name, "name of the run; its folder is dir/name/time");
  visit("seed", options.seed, "everything random follows from it: initial weights, order, augmentation, dropout", at_least(0));
  visit("epochs", options.epochs, "passes over the training data", at_least(0));
  visit("steps", options.steps, "optimizer steps; 0: as many as the epochs give", at_least(0));
  visit("dir", options.dir, "where run folders are made");
  visit("resume", options.resume, "latest, or the path of a run folder or checkpoint to go on from; empty: start anew");
  visit("init_from", options.init_from, "safetensors file with initial weights, names as in Python's state_dict");
  visit("init_match", options.init_match,
        "strict: run.init_from has the model's names and no others; by_name: shared names suffice");
  visit("threads", options.threads, "intra-op threads per rank; 0: OMP_NUM_THREADS, else cores allowed / ranks on the node",
        at_least(0));
  visit("flush_denormals", options.flush_denormals,
        "numbers below 1.2e-38 are taken for zero on a CPU, where they take many times as long as others");
}

/// Section `train`.
struct TrainOptions {
  Extent evaluate_every = {1, Extent::Unit::epochs};
  std::string monitor = "valid/loss";  ///< the metric that early stopping and the best weights go by
  Better better = Better::lower;
  std::int64_t patience = 0;  ///< evaluations without improvement before training stops; 0: never
  double min_delta = 0;
};

template <class Visitor>
void visit_fields(Visitor& visit, TrainOptions& options) {
  visit("evaluate_every", options.evaluate_every, "steps or epochs between evaluations on data.valid; 0: only at the end",
        at_least(0));
  visit("monitor", options.monitor, "metric that decides which weights are best and when to stop early");
  visit("better", options.better, "whether the monitored metric gets better by falling or by rising");
  visit("patience", options.patience, "evaluations without improvement before training stops; 0: never stop early",
        at_least(0));
  visit("min_delta", options.min_delta, "smallest change of the monitored metric that counts as improvement", at_least(0));
}

}  // namespace ddpkit
