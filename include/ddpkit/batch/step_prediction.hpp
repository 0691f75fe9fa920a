#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ddpkit/base/text_table.hpp"
#include "ddpkit/batch/cluster.hpp"
#include "ddpkit/batch/step_profile.hpp"
#include "ddpkit/batch/timed_buckets.hpp"
#include "ddpkit/observe/chart.hpp"

namespace ddpkit {

/// Where the time of a step goes.
struct StepParts {
  double compute_seconds = 0;    ///< of one rank that waits for nobody
  double straggler_seconds = 0;  ///< by how much the slowest of the ranks computes longer
  double exposed_seconds = 0;    ///< communication that no computing hides, and what it slows

  double seconds() const noexcept { return compute_seconds + straggler_seconds + exposed_seconds; }
};

/// A step on so many ranks of a cluster.
struct PredictedStep {
  std::int64_t ranks = 1;
  std::int64_t nodes = 1;
  std::size_t buckets = 0;
  AllReduce all_reduce = AllReduce::ring;  ///< what sums the largest bucket
  StepParts likely;
  StepParts slow_link;  ///< with the lower end of the links' efficiency
  StepParts fast_link;  ///< with the upper end
};

/// Where buckets end.
enum class Cutting {
  by_size,  ///< where they are full
  by_time,  ///< where the last one arrives earliest on this cluster, as a run finds by measuring
};

constexpr auto enum_names(Cutting) {
  return std::to_array<std::pair<Cutting, std::string_view>>({{Cutting::by_size, "size"}, {Cutting::by_time, "measured"}});
}

/// What is predicted from what.
struct PredictionRequest {
  StepProfile profile;
  Cluster cluster;
  BucketSizes sizes{};
  Cutting cutting = Cutting::by_size;
  std::vector<std::int64_t> ranks{};  ///< rising; empty: doubling up to the whole cluster
  std::int64_t baseline = 1;          ///< ranks that efficiency and speed-up are compared with
};

struct Prediction {
  PredictionRequest request;
  PredictedStep baseline;
  std::vector<PredictedStep> steps;
};

/// One step of weak scaling: each rank keeps its batch. Buckets leave in order over one link, each when it is ready and those
/// before it have arrived (run_pipeline), at the cost of all_reduce_seconds. Ranks wait for the slowest: all computing takes
/// 1 + jitter x expected_normal_maximum(ranks) times as long, with normal and independent deviations. Pure and without chance.
StepParts predict_step(const PredictionRequest& request, std::int64_t ranks, LinkEfficiency efficiency);

/// The steps of all counts asked for. Throws UsageError for counts that do not fit the cluster.
Prediction predict(const PredictionRequest& request);

/// Seconds of the baseline's step over those of this one: samples per second and rank, over the baseline's.
double efficiency(const Prediction& prediction, const PredictedStep& step);
double efficiency(const Prediction& prediction, const PredictedStep& step, LinkEfficiency link);

/// Samples per second over the baseline's.
double speed_up(const Prediction& prediction, const PredictedStep& step);

TextTable prediction_table(const Prediction& prediction);
std::string to_json(const Prediction& prediction);

/// Efficiency against ranks, with its band.
Chart efficiency_chart(const Prediction& prediction);

/// Sentences for people: what was assumed, and where the step on the most ranks loses time.
std::string prediction_text(const Prediction& prediction);

}  // namespace ddpkit
