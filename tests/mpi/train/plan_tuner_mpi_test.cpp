// comm.plan: measured.
#include "train/plan_tuner.hpp"

#include "ddpkit/checkpoint/checkpoint_store.hpp"
#include "ddpkit/testing/emulated_link.hpp"
#include "support/trainer_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kPlanWindows = 3;
constexpr ReducerOptions kMeasured{.plan = PlanBy::measured, .plan_windows = kPlanWindows};

RunConfig measured_config() {
  RunConfig config = toy_config();
  config.reducer = kMeasured;
  return config;
}

torch::nn::Sequential trained(Communicator& ranks, const RunConfig& config, const Places& places = {}, std::int64_t steps = 0) {
  ToyTrainer toy(ranks, config, places);
  if (steps > 0)
    toy.trainer.add_callback(std::make_shared<AfterStep>([=](const Progress& progress, const StepResult&) {
      return progress.step == steps - 1 ? Flow::stop : Flow::go_on;  // heard one step later
    }));
  toy.train();
  return toy.model;
}

/// Six layers of 256 KiB, on a link that gains by sending each as soon as it is ready.
struct WideModel {
  torch::nn::Sequential layers;
  WideModel() {
    for (int i = 0; i < 6; ++i) layers->push_back(torch::nn::Linear(torch::nn::LinearOptions(256, 256).bias(false)));
  }
  void window(GradReducer& reducer) {
    for (torch::Tensor& parameter : layers->parameters()) parameter.mutable_grad().reset();
    layers->forward(torch::ones({64, 256})).sum().backward();
    reducer.finish();
  }
};

std::map<std::string, std::string> newest_values(const std::string& folder) {
  return CheckpointStore(folder, {}).latest_valid().checkpoint->manifest().values;
}

}  // namespace

TEST_CASE("buckets planned by time change not one bit of a run") {
  const auto ranks = make_communicator();
  CHECK(distance(*trained(*ranks, toy_config()), *trained(*ranks, measured_config())) == 0);
}

TEST_CASE("on a slow link without latency the measured plan sends the first gradient at once, and says what that gained") {
  const auto ranks = make_communicator();
  if (ranks->world_size() == 1) return;  // nothing is sent
  LinkClock::Time time;                  // of the link, virtual
  const auto now = [&] { return time; };
  EmulatedLink link(*ranks, {.bytes_per_second = 1e6},
                    {.now = now, .sleep_until = [&](LinkClock::Time until) { time = std::max(time, until); }});
  WideModel model;
  GradReducer reducer(named_tensors(model.layers->named_parameters()), {link, *ranks}, kMeasured);
  const BucketPlan by_size = reducer.plan();
  PlanTuner tuner(reducer, kMeasured, {.now = now});
  CHECK(tuner.start({}).empty());
  std::vector<std::string> told;
  for (int window = 0; window < 2 * (kPlanWindows + 2) + 3; ++window) {
    model.window(reducer);
    const std::string said = tuner.observe({.compute_seconds = 1e-3});
    if (!said.empty()) told.push_back(said);
    const bool decided = window >= kPlanWindows + 1;
    CHECK(tuner.chosen().has_value() == decided);
  }
  REQUIRE(told.size() == 1);
  CHECK_THAT(told.front(), Contains(std::to_string(reducer.plan().buckets.size()) + " buckets instead of " +
                                    std::to_string(by_size.buckets.size())));
  CHECK(by_size.buckets.front().slots.size() > 1);
  CHECK(reducer.plan().buckets.front().slots.size() == 1);
  const std::string mine = to_text(reducer.plan());
  CHECK(broadcast_text(*ranks, mine) == mine);
}

TEST_CASE("a plan from a checkpoint is used as it is, and nothing is measured again") {
  const auto ranks = make_communicator();
  if (ranks->world_size() == 1) return;
  WideModel model;
  GradReducer reducer(named_tensors(model.layers->named_parameters()), *ranks, kMeasured);
  PlanTuner tuner(reducer, kMeasured);
  CHECK(tuner.start("0;5,4;3;2,1").empty());
  CHECK(to_text(reducer.plan()) == "0;5,4;3;2,1");
  for (int window = 0; window < 2 * (kPlanWindows + 2); ++window) {
    model.window(reducer);
    CHECK(tuner.observe({}).empty());
  }
  CHECK(tuner.chosen() == "0;5,4;3;2,1");
}

TEST_CASE("a plan of another model is made anew, and one that is not wanted is left with a word") {
  const auto ranks = make_communicator();
  if (ranks->world_size() == 1) return;
  WideModel model;
  GradReducer reducer(named_tensors(model.layers->named_parameters()), *ranks, kMeasured);
  PlanTuner tuner(reducer, kMeasured);
  CHECK_THAT(tuner.start("0;1"), Contains("planned anew"));
  CHECK_FALSE(tuner.chosen().has_value());
  PlanTuner by_size(reducer, {});
  CHECK_THAT(by_size.start("0;5,4;3;2,1"), Contains("comm.plan: size"));
}

TEST_CASE("a plan by time without overlap is refused") {
  const auto ranks = make_communicator();
  RunConfig config = measured_config();
  config.reducer.overlap = Overlap::off;
  CHECK_THROWS_WITH(trained(*ranks, config), Contains("comm.overlap: on"));
}

TEST_CASE("a measured plan is kept in the checkpoint, and the run goes on with it to the bit") {
  const auto ranks = make_communicator();
  const RunConfig config = measured_config();
  const SharedFolder folder(*ranks);
  const torch::nn::Sequential expected = trained(*ranks, toy_config());
  trained(*ranks, config, {folder.run()}, 3);
  const bool early = agree_any(*ranks, ranks->rank() == 0 && newest_values(folder.checkpoints()).contains("comm.bucket_plan"));
  CHECK_FALSE(early);
  trained(*ranks, config, {folder.run(), folder.checkpoints()}, 9);
  const bool kept = agree_any(*ranks, ranks->rank() == 0 && newest_values(folder.checkpoints()).contains("comm.bucket_plan"));
  CHECK(kept == (ranks->world_size() > 1));
  CHECK(distance(*expected, *trained(*ranks, config, {folder.run(), folder.checkpoints()})) == 0);
  ranks->barrier();
}
