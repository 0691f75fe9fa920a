#include "ddpkit/schedule/schedule_plan.hpp"

#include <string>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr auto kSteps = Extent::Unit::steps;
constexpr auto kEpochs = Extent::Unit::epochs;
constexpr auto kPercent = Extent::Unit::percent;
constexpr RunLength kRun{.steps = 100, .steps_per_epoch = 25};

std::string refusal(const ScheduleOptions& options, const RunLength& run = kRun) {
  try {
    plan_schedule(options, run);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("warm-up may be given in steps, epochs or per cent and comes out in steps") {
  CHECK(plan_schedule({.warmup = {12, kSteps}}, kRun).warmup_steps == 12);
  CHECK(plan_schedule({.warmup = {2, kEpochs}}, kRun).warmup_steps == 50);
  CHECK(plan_schedule({.warmup = {5, kPercent}}, kRun).warmup_steps == 5);
  CHECK(plan_schedule({}, kRun).warmup_steps == 0);
}

TEST_CASE("a warm-up longer than the run is refused with both figures") {
  const std::string message = refusal({.warmup = {5, kEpochs}});
  CHECK(says(message, "schedule.warmup: 125 steps in a run of 100"));
}

TEST_CASE("a warm-up may fill the run unless a decay must end with it") {
  CHECK(refusal({.warmup = {100, kSteps}}) == "accepted");
  CHECK(says(refusal({.warmup = {100, kSteps}, .decay = Decay::cosine}), "leave none for the cosine decay"));
}

TEST_CASE("a milestone within warm-up is refused") {
  const ScheduleOptions options{.warmup = {10, kSteps}, .decay = Decay::multi_step, .milestones = {{50, kSteps}, {9, kSteps}}};
  CHECK(says(refusal(options), "drops at step 9, before it has reached its target at step 9 (warm-up of 10 steps)"));
  CHECK(says(refusal({.decay = Decay::multi_step, .milestones = {{0, kSteps}}}), "drops at step 0"));
}

TEST_CASE("a milestone past the end of a shortened run is harmless") {
  const ScheduleOptions options{.decay = Decay::multi_step, .milestones = {{30, kEpochs}, {2, kEpochs}}};
  CHECK(plan_schedule(options, kRun).milestones == std::vector<std::int64_t>{50, 750});
}

TEST_CASE("a decay without its period or milestones is refused by name") {
  for (const Decay decay : {Decay::step, Decay::cosine_restarts, Decay::warmup_stable_decay})
    CHECK(says(refusal({.decay = decay}), "schedule.period: got 0 steps"));
  CHECK(says(refusal({.decay = Decay::multi_step}), "schedule.milestones: empty"));
  CHECK(says(refusal({.decay = Decay::exponential}, {.steps = 100}), "length of an epoch is not known"));
}

TEST_CASE("warm-up and the last decay must leave a step at the target") {
  const auto wsd = [](double warmup, double period) {
    return refusal({.warmup = {warmup, kSteps}, .decay = Decay::warmup_stable_decay, .period = {period, kSteps}});
  };
  CHECK(wsd(10, 90) == "accepted");
  CHECK(says(wsd(10, 91), "warm-up of 10 steps and decay of 91 do not fit into a run of 100"));
  CHECK(wsd(0, 99) == "accepted");
  CHECK(says(wsd(0, 100), "do not fit"));
}

TEST_CASE("factors out of range are refused with the field's name") {
  CHECK(says(refusal({.reference_batch = 0}), "schedule.reference_batch: got 0"));
  CHECK(says(refusal({.warmup_start = 1.5}), "schedule.warmup_start: got 1.5"));
  CHECK(says(refusal({.period_factor = 0.5}), "schedule.period_factor"));
  CHECK(says(refusal({.gamma = 0}), "schedule.gamma"));
  CHECK(says(refusal({.power = -1}), "schedule.power"));
  CHECK(says(refusal({.final_factor = -0.1}), "schedule.final_factor"));
}
