#include "ddpkit/batch/step_prediction.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/batch/normal_maximum.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

/// Backward of 20 ms makes four gradients of 10 MB; nodes of 4 ranks are joined by 8 Gbit/s.
PredictionRequest some_request() {
  PredictionRequest request;
  request.profile = {
      .model = "mlp", .samples = 32, .forward_seconds = 0.01, .backward_seconds = 0.02, .optimizer_seconds = 0.002};
  for (int i = 1; i <= 4; ++i) request.profile.gradients.push_back({"fc" + std::to_string(i), 10'000'000, 0.005 * i});
  request.cluster = {.name = "some",
                     .nodes = 1024,
                     .ranks_per_node = 4,
                     .within = {.latency_us = 1, .gbit_per_second = 400, .efficiency = 1},
                     .between = {.latency_us = 10, .gbit_per_second = 8, .efficiency = 1, .efficiency_low = 0.5}};
  request.sizes = {.bucket_bytes = 10'000'000, .tail_bytes = 10'000'000};
  return request;
}

double likely_seconds(const PredictionRequest& request, std::int64_t ranks) {
  return predict_step(request, ranks, LinkEfficiency::likely).seconds();
}

}  // namespace

TEST_CASE("one rank takes what was recorded, and is fully efficient") {
  const Prediction prediction = predict(some_request());
  CHECK(prediction.steps.front().ranks == 1);
  CHECK(prediction.steps.front().likely.seconds() == Approx(0.032));
  CHECK(efficiency(prediction, prediction.steps.front()) == 1);
}

TEST_CASE("a link without latency and of endless bandwidth exposes nothing") {
  PredictionRequest request = some_request();
  request.cluster.between = request.cluster.within = {.latency_us = 0, .gbit_per_second = 1e300, .efficiency = 1};
  const StepParts parts = predict_step(request, 4096, LinkEfficiency::likely);
  CHECK(parts.exposed_seconds == Approx(0).margin(1e-12));
  CHECK(parts.seconds() == Approx(0.032));
}

TEST_CASE("what a slow link takes is exposed but for what backward hides") {
  PredictionRequest request = some_request();
  request.cluster.all_reduce = AllReduce::ring;
  request.cluster.ranks_per_node = 1;
  request.cluster.between.latency_us = 0;
  const double bucket = 2 * 0.75 * 10e6 / 1e9;  // on 4 ranks
  CHECK(predict_step(request, 4, LinkEfficiency::likely).exposed_seconds == Approx(0.005 + 4 * bucket - 0.02));
}

TEST_CASE("jitter costs the expected maximum of all ranks, in all computing") {
  PredictionRequest request = some_request();
  request.cluster.between = request.cluster.within = {.latency_us = 0, .gbit_per_second = 1e300, .efficiency = 1};
  request.profile.jitter = 0.02;
  const StepParts parts = predict_step(request, 256, LinkEfficiency::likely);
  CHECK(parts.straggler_seconds == Approx(0.032 * 0.02 * expected_normal_maximum(256)));
  CHECK(parts.exposed_seconds == Approx(0).margin(1e-12));
  request.cluster.jitter = 0;
  CHECK(predict_step(request, 256, LinkEfficiency::likely).straggler_seconds == 0);
}

TEST_CASE("efficiency falls with ranks, speed-up rises, and the band holds what is likely") {
  PredictionRequest request = some_request();
  request.cluster.jitter = 0.01;
  const Prediction prediction = predict(request);
  CHECK(prediction.steps.back().ranks == 4096);
  double last_efficiency = 2, last_speed_up = 0;
  for (const PredictedStep& step : prediction.steps) {
    CHECK(efficiency(prediction, step) < last_efficiency);
    CHECK(speed_up(prediction, step) > last_speed_up);
    CHECK(efficiency(prediction, step, LinkEfficiency::low) <= efficiency(prediction, step));
    CHECK(efficiency(prediction, step, LinkEfficiency::high) >= efficiency(prediction, step));
    last_efficiency = efficiency(prediction, step);
    last_speed_up = speed_up(prediction, step);
  }
}

TEST_CASE("interference slows what is computed while gradients travel") {
  PredictionRequest request = some_request();
  const double undisturbed = likely_seconds(request, 4);
  request.cluster.interference = 0.5;
  CHECK(likely_seconds(request, 4) > undisturbed);
  CHECK(likely_seconds(request, 4) < undisturbed + 0.5 * 0.02);
}

TEST_CASE("buckets that are cut by time expose no more than those cut by size") {
  PredictionRequest request = some_request();
  request.profile.gradients.clear();
  for (int i = 1; i <= 40; ++i) request.profile.gradients.push_back({"fc" + std::to_string(i), 100'000 * i, 0.0005 * i});
  request.cluster.all_reduce = AllReduce::ring;
  for (const std::int64_t bucket_bytes : {1'000'000, 10'000'000, 100'000'000})
    for (const std::int64_t ranks : {2, 8, 256}) {
      request.sizes = {.bucket_bytes = bucket_bytes, .tail_bytes = 100'000};
      request.cutting = Cutting::by_size;
      const double by_size = likely_seconds(request, ranks);
      request.cutting = Cutting::by_time;
      CHECK(likely_seconds(request, ranks) <= by_size * (1 + 1e-9));
    }
}

TEST_CASE("another baseline compares with its own step") {
  PredictionRequest request = some_request();
  request.baseline = 4;
  request.ranks = {4, 64};
  const Prediction prediction = predict(request);
  CHECK(efficiency(prediction, prediction.steps[0]) == 1);
  CHECK(speed_up(prediction, prediction.steps[1]) == Approx(16 * likely_seconds(request, 4) / likely_seconds(request, 64)));
}

TEST_CASE("a table has a row for each count, and the document all digits") {
  PredictionRequest request = some_request();
  request.ranks = {1, 8};
  const Prediction prediction = predict(request);
  CHECK(prediction_table(prediction).rows().size() == 2);
  const auto document = nlohmann::json::parse(to_json(prediction));
  CHECK(document["steps"][1]["step_seconds"].get<double>() == prediction.steps[1].likely.seconds());
  CHECK(document["steps"][1]["band"]["efficiency_low"].get<double>() <= document["steps"][1]["efficiency"].get<double>());
  CHECK(efficiency_chart(prediction).series.front().points.size() == 2);
  CHECK_THAT(prediction_text(prediction), Contains("Predicted, not measured"));
}

TEST_CASE("counts that do not fit the cluster are refused before anything is predicted") {
  PredictionRequest request = some_request();
  request.ranks = {4, 6};
  CHECK_THROWS_AS(predict(request), UsageError);
  request.ranks = {4};
  request.baseline = 8192;
  CHECK_THROWS_AS(predict(request), UsageError);
}
