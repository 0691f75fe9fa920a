// Overlap on a link whose time, and that of computing, is virtual: what a step takes is exact.
#include <torch/torch.h>

#include <numeric>

#include "ddpkit/batch/reduction_pipeline.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/testing/emulated_link.hpp"
#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using ddpkit::GradReducer;
using ddpkit::Overlap;
using ddpkit::testing::EmulatedLink;
using ddpkit::testing::LinkClock;
using ddpkit::testing::LinkSpeed;

constexpr std::int64_t kLayers = 5;
constexpr std::int64_t kWidth = 40;

/// Layers whose backward takes 3 ms of virtual time each.
struct SlowLayers {
  LinkClock::Time now{};
  std::vector<torch::nn::Linear> layers;
  std::vector<ddpkit::NamedTensor> parameters;

  SlowLayers() {
    torch::manual_seed(7);
    for (std::int64_t i = 0; i < kLayers; ++i) {
      layers.emplace_back(kWidth, kWidth);
      for (const auto& item : layers.back()->named_parameters())
        parameters.push_back({std::to_string(i) + "." + item.key(), item.value()});
    }
  }

  LinkClock clock() {
    return {.now = [this] { return now; }, .sleep_until = [this](LinkClock::Time time) { now = std::max(now, time); }};
  }

  void backward(const torch::Tensor& input) {
    torch::Tensor values = input;
    for (torch::nn::Linear& layer : layers) {
      values = layer->forward(values).tanh();
      values.register_hook([this](const torch::Tensor&) { now += 3ms; });
    }
    values.pow(2).sum().backward();
  }

  double seconds() const { return std::chrono::duration<double>(now.time_since_epoch()).count(); }
};

/// Of parameters, cut into this plan: ready when the layer of its last parameter is, in order of backward.
std::vector<ddpkit::PipelineBucket> pipeline_of(const ddpkit::BucketPlan& plan, const LinkSpeed& speed) {
  std::vector<ddpkit::PipelineBucket> buckets;
  for (const ddpkit::Bucket& bucket : plan.buckets) {
    double ready = 0;
    for (const ddpkit::BucketSlot& slot : bucket.slots)
      ready = std::max(ready, 3e-3 * static_cast<double>(kLayers - static_cast<std::int64_t>(slot.parameter / 2)));
    buckets.push_back({ready, std::chrono::duration<double>(speed.cost(bucket.bytes())).count()});
  }
  return buckets;
}

struct LinkStep {
  double seconds = 0;
  torch::Tensor gradients;
  ddpkit::BucketPlan plan;
};

LinkStep step_on_link(ddpkit::Communicator& ranks, const LinkSpeed& speed, Overlap overlap, const char* plan) {
  SlowLayers model;
  EmulatedLink link(ranks, speed, model.clock());
  GradReducer reducer(model.parameters, {link, ranks}, {.overlap = overlap});
  const auto planned = ddpkit::plan_from_text(plan, reducer.gradient_specs());
  REQUIRE(planned.has_value());
  reducer.set_plan(*planned);
  model.backward(torch::randn({8, kWidth}) + ranks.rank());
  reducer.finish();
  std::vector<torch::Tensor> flat;
  for (const torch::Tensor& gradient : reducer.gradients()) flat.push_back(gradient.flatten());
  return {model.seconds(), torch::cat(flat), *planned};
}

/// 1600 + 40 floats a layer in about 0.7, 3 and 14 ms.
const std::vector<LinkSpeed> kSpeeds{{.latency = 10us, .bytes_per_second = 1e7},
                                     {.latency = 1ms, .bytes_per_second = 3.3e6},
                                     {.latency = 8ms, .bytes_per_second = 1e6}};
const std::vector<const char*> kPlans{"9,8;7,6;5,4;3,2;1,0", "9,8,7,6,5,4,3,2;1,0", "9,8,7;6,5,4,3;2,1,0",
                                      "9,8,7,6,5,4,3,2,1,0", "8,6;9,4;7,5,3;2,1;0"};

}  // namespace

TEST_CASE("a step on a link takes what the pipeline model says, for any plan") {
  const auto ranks = ddpkit::make_communicator();
  if (ranks->world_size() == 1) return;  // sends nothing
  for (const LinkSpeed& speed : kSpeeds)
    for (const char* plan : kPlans) {
      CAPTURE(plan, speed.bytes_per_second);
      const LinkStep step = step_on_link(*ranks, speed, Overlap::on, plan);
      const auto buckets = pipeline_of(step.plan, speed);
      CHECK(step.seconds == Approx(ddpkit::run_pipeline({.buckets = buckets, .compute_seconds = 3e-3 * kLayers}).seconds()));
    }
}

TEST_CASE("without overlap a step on a link takes backward and then all buckets") {
  const auto ranks = ddpkit::make_communicator();
  if (ranks->world_size() == 1) return;
  for (const LinkSpeed& speed : kSpeeds) {
    const LinkStep step = step_on_link(*ranks, speed, Overlap::off, kPlans.front());
    double sum = 3e-3 * kLayers;
    for (const auto& bucket : pipeline_of(step.plan, speed)) sum += bucket.cost_seconds;
    CHECK(step.seconds == Approx(sum));
  }
}

TEST_CASE("overlap and plan change when gradients arrive on a link, and not one bit of them") {
  const auto ranks = ddpkit::make_communicator();
  const torch::Tensor expected = step_on_link(*ranks, kSpeeds[0], Overlap::off, kPlans[3]).gradients;
  for (const Overlap overlap : {Overlap::on, Overlap::off})
    for (const char* plan : kPlans) {
      CAPTURE(plan);
      CHECK(torch::equal(step_on_link(*ranks, kSpeeds[1], overlap, plan).gradients, expected));
    }
}

TEST_CASE("gradients are recorded in the order in which backward makes them") {
  const auto ranks = ddpkit::make_communicator();
  SlowLayers model;
  GradReducer reducer(model.parameters, *ranks);
  model.backward(torch::randn({8, kWidth}));
  reducer.finish();
  for (const auto& moment : reducer.ready_moments()) CHECK((moment == GradReducer::Moment()));
  reducer.record_readiness(ddpkit::Readiness::recorded);
  model.backward(torch::randn({8, kWidth}));
  reducer.finish();
  const auto moments = reducer.ready_moments();
  for (std::size_t layer = 0; layer + 1 < kLayers; ++layer)
    for (const std::size_t parameter : {2 * layer, 2 * layer + 1}) CHECK((moments[parameter] > moments[parameter + 2]));
}

TEST_CASE("a plan is not changed while a window is open") {
  const auto ranks = ddpkit::make_communicator();
  SlowLayers model;
  GradReducer reducer(model.parameters, *ranks);
  const ddpkit::BucketPlan plan = reducer.plan();
  model.backward(torch::randn({8, kWidth}));
  CHECK_THROWS_AS(reducer.set_plan(plan), ddpkit::UsageError);
  reducer.finish();
  CHECK_NOTHROW(reducer.set_plan(plan));
}
