#include "ddpkit/schedule/lr_schedule.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr auto kSteps = Extent::Unit::steps;
constexpr auto kEpochs = Extent::Unit::epochs;

std::vector<double> rates(const LrSchedule& schedule, std::int64_t count, std::int64_t global_batch = 256) {
  std::vector<double> out;
  for (std::int64_t step = 0; step < count; ++step) out.push_back(schedule.at({.step = step, .global_batch = global_batch}));
  return out;
}

// Nine steps of a run of nine, base rate 1, three steps in an epoch.
std::vector<double> nine(const ScheduleOptions& options) {
  return rates(make_schedule(options, 1, {.steps = 9, .steps_per_epoch = 3}), 9);
}

void check_table(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("step " << i);
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-11).margin(1e-15));
  }
}

}  // namespace

TEST_CASE("without decay the rate is the base rate at every step") {
  check_table(nine({}), std::vector<double>(9, 1.0));
}

// The tables are what torch.optim.lr_scheduler of PyTorch 2.11 gives: the learning rate before each of nine optimizer steps,
// with SGD at lr = 1 and scheduler.step() after each step (after each third one for "exponential").
//
//   o = torch.optim.SGD([torch.zeros(1)], lr=1.0); s = torch.optim.lr_scheduler.StepLR(o, 3, 0.5)
//   for _ in range(9): print(f"{o.param_groups[0]['lr']:.12g}"); o.step(); s.step()

TEST_CASE("step decay equals StepLR(3, 0.5)") {
  check_table(nine({.decay = Decay::step, .period = {3, kSteps}, .gamma = 0.5}), {1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25});
}

TEST_CASE("multi-step decay equals MultiStepLR([2, 5, 6], 0.1)") {
  check_table(nine({.decay = Decay::multi_step, .milestones = {{5, kSteps}, {2, kEpochs}, {2, kSteps}}}),
              {1, 1, 0.1, 0.1, 0.1, 0.01, 0.001, 0.001, 0.001});
}

TEST_CASE("exponential decay equals ExponentialLR(0.5) stepped once per epoch") {
  check_table(nine({.decay = Decay::exponential, .gamma = 0.5}), {1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25});
}

TEST_CASE("linear decay equals LinearLR(1, 0.25, total_iters=8)") {
  check_table(nine({.decay = Decay::linear, .final_factor = 0.25}),
              {1, 0.90625, 0.8125, 0.71875, 0.625, 0.53125, 0.4375, 0.34375, 0.25});
}

TEST_CASE("polynomial decay equals PolynomialLR(total_iters=8, power=2)") {
  check_table(nine({.decay = Decay::polynomial, .power = 2}),
              {1, 0.765625, 0.5625, 0.390625, 0.25, 0.140625, 0.0625, 0.015625, 0});
}

TEST_CASE("cosine decay equals CosineAnnealingLR(T_max=8, eta_min=0.1)") {
  check_table(nine({.decay = Decay::cosine, .final_factor = 0.1}),
              {1, 0.96574578963, 0.868198051534, 0.722207544564, 0.55, 0.377792455436, 0.231801948466, 0.13425421037, 0.1});
}

TEST_CASE("cosine with restarts equals CosineAnnealingWarmRestarts(T_0=3, T_mult=2, eta_min=0.1)") {
  const ScheduleOptions options{
      .decay = Decay::cosine_restarts, .period = {3, kSteps}, .period_factor = 2, .final_factor = 0.1};
  check_table(nine(options), {1, 0.775, 0.325, 1, 0.939711431703, 0.775, 0.55, 0.325, 0.160288568297});
}

TEST_CASE("warm-up and cosine equal SequentialLR([LinearLR(1/3, total_iters=2), CosineAnnealingLR(6)], [2])") {
  check_table(nine({.warmup = {3, kSteps}, .decay = Decay::cosine}),
              {1 / 3.0, 2 / 3.0, 1, 0.933012701892, 0.75, 0.5, 0.25, 0.0669872981078, 0});
}

TEST_CASE("a step decay of period 1 starts right after warm-up") {
  check_table(nine({.warmup = {3, kSteps}, .decay = Decay::step, .period = {1, kSteps}, .gamma = 0.5}),
              {1 / 3.0, 2 / 3.0, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625});
}

TEST_CASE("warm-up-stable-decay holds the target and falls over its last period") {
  const ScheduleOptions options{
      .warmup = {2, kSteps}, .decay = Decay::warmup_stable_decay, .period = {4, kSteps}, .final_factor = 0.2};
  check_table(nine(options), {0.5, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2});
}

TEST_CASE("the first update has target / warm-up steps and the last one of warm-up the target exactly") {
  const auto warm = [](double steps) { return nine({.warmup = {steps, kSteps}}); };
  check_table(warm(0), std::vector<double>(9, 1.0));
  check_table(warm(1), std::vector<double>(9, 1.0));
  check_table(warm(5), {0.2, 0.4, 0.6, 0.8, 1, 1, 1, 1, 1});
  for (double steps = 0; steps <= 9; ++steps) CHECK(warm(steps)[static_cast<std::size_t>(std::max(1.0, steps)) - 1] == 1.0);
}

TEST_CASE("warm-up may start at a stated factor of the target") {
  check_table(nine({.warmup = {5, kSteps}, .warmup_start = 0.2}), {0.2, 0.4, 0.6, 0.8, 1, 1, 1, 1, 1});
  check_table(nine({.warmup = {5, kSteps}, .warmup_start = 0.6}), {0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1, 1});
}

TEST_CASE("shaped decays end at the final factor to the bit and stay there") {
  for (const Decay decay : {Decay::linear, Decay::polynomial, Decay::cosine, Decay::warmup_stable_decay})
    for (const double final_factor : {0.0, 0.1, 0.3, 1.0}) {
      const ScheduleOptions options{
          .warmup = {7, kSteps}, .decay = decay, .period = {11, kSteps}, .power = 3, .final_factor = final_factor};
      const LrSchedule schedule = make_schedule(options, 1, {.steps = 101, .steps_per_epoch = 10});
      CHECK(schedule.at({.step = 6}) == 1.0);
      CHECK(schedule.at({.step = 100}) == final_factor);
      CHECK(schedule.at({.step = 5000}) == final_factor);
    }
}

TEST_CASE("the rate never rises after warm-up, but for restarts") {
  for (const Decay decay : {Decay::constant, Decay::step, Decay::multi_step, Decay::exponential, Decay::linear,
                            Decay::polynomial, Decay::cosine, Decay::warmup_stable_decay}) {
    const ScheduleOptions options{.warmup = {10, Extent::Unit::percent},
                                  .decay = decay,
                                  .milestones = {{30, kSteps}, {2, kEpochs}},
                                  .period = {17, kSteps}};
    const auto trace = rates(make_schedule(options, 0.3, {.steps = 100, .steps_per_epoch = 25}), 100);
    for (std::size_t step = 10; step < trace.size(); ++step) REQUIRE(trace[step] <= trace[step - 1]);
    for (std::size_t step = 1; step < 10; ++step) REQUIRE(trace[step] > trace[step - 1]);
  }
}

TEST_CASE("the exponential stair falls at the starts of epochs, after the one in which warm-up ends") {
  const ScheduleOptions options{.warmup = {5, kSteps}, .decay = Decay::exponential, .gamma = 0.5};
  check_table(nine(options), {0.2, 0.4, 0.6, 0.8, 1, 1, 0.5, 0.5, 0.5});
}

TEST_CASE("the rate follows the global batch and nothing else of the world") {
  const auto rate = [](Scaling scaling, std::int64_t global) {
    return make_schedule({.scaling = scaling, .reference_batch = 256}, 0.1, {.steps = 10}).at({.global_batch = global});
  };
  CHECK(rate(Scaling::linear, 256) == Approx(0.1));
  CHECK(rate(Scaling::linear, 8192) == Approx(3.2));
  CHECK(rate(Scaling::linear, 64) == Approx(0.025));
  CHECK(rate(Scaling::square_root, 1024) == Approx(0.2));
  CHECK(rate(Scaling::none, 8192) == 0.1);
}

TEST_CASE("a batch that changes in the middle of the run changes the rate at once") {
  const LrSchedule schedule = make_schedule({.scaling = Scaling::linear, .reference_batch = 32}, 0.1, {.steps = 10});
  CHECK(schedule.at({.step = 4, .global_batch = 32}) == Approx(0.1));
  CHECK(schedule.at({.step = 5, .global_batch = 64}) == Approx(0.2));
}

TEST_CASE("a schedule is a value: any step may be asked, in any order, with one answer") {
  const LrSchedule schedule = make_schedule({.warmup = {3, kSteps}, .decay = Decay::cosine}, 1, {.steps = 9});
  const LrSchedule copy = schedule;
  const double late = schedule.at({.step = 7});
  CHECK(schedule.at({.step = 0}) == Approx(1 / 3.0));
  CHECK(schedule.at({.step = 7}) == late);
  CHECK(copy.at({.step = 7}) == late);
}

TEST_CASE("a run of one step has the target whatever the decay") {
  for (const Decay decay : {Decay::constant, Decay::linear, Decay::cosine, Decay::warmup_stable_decay}) {
    const ScheduleOptions options{.warmup = {5, Extent::Unit::percent}, .decay = decay, .period = {1, kSteps}};
    CHECK(make_schedule(options, 1, {.steps = 1, .steps_per_epoch = 1}).at({}) == 1.0);
  }
}

TEST_CASE("restarts stay exact after many cycles of equal length") {
  const ScheduleOptions options{.decay = Decay::cosine_restarts, .period = {1000, kSteps}};
  const LrSchedule schedule = make_schedule(options, 1, {.steps = 1'000'000'000});
  CHECK(schedule.at({.step = 900'000'000}) == 1.0);
  CHECK(schedule.at({.step = 900'000'500}) == Approx(0.5));
}

TEST_CASE("impossible rates and questions are refused") {
  CHECK_THROWS_AS(make_schedule({}, -0.1, {.steps = 10}), ConfigError);
  CHECK_THROWS_AS(make_schedule({}, std::numeric_limits<double>::quiet_NaN(), {.steps = 10}), ConfigError);
  CHECK_THROWS_AS(make_schedule({}, 1, {.steps = 10}).at({.step = -1}), UsageError);
  CHECK_THROWS_AS(make_schedule({.scaling = Scaling::linear}, 1, {.steps = 10}).at({.step = 0}), UsageError);
  CHECK_THROWS_AS(make_schedule({.decay = Decay::cosine}, 1, {}).at({.step = 0}), UsageError);
}

TEST_CASE("a change of the batch that holds the rate leaves the rate alone, and one that scales takes it along") {
  for (const Scaling scaling : {Scaling::linear, Scaling::square_root}) {
    const LrSchedule schedule = make_schedule({.scaling = scaling, .reference_batch = 32}, 0.1, {.steps = 100});
    const double four = scaling == Scaling::linear ? 4 : 2;
    CHECK(schedule.at({.step = 50, .global_batch = 32}) == Approx(0.1));
    CHECK(schedule.at({.step = 50, .global_batch = 128, .rate_batch = 32}) == Approx(0.1));
    CHECK(schedule.at({.step = 50, .global_batch = 128, .rate_batch = 128}) == Approx(0.1 * four));
    CHECK(schedule.at({.step = 50, .global_batch = 128}) == Approx(0.1 * four));
  }
  CHECK_THROWS_AS(make_schedule({.scaling = Scaling::linear}, 1, {}).at({.global_batch = 8, .rate_batch = 0}), UsageError);
}

TEST_CASE("the rate may be taken at another step than the one the run counts") {
  const LrSchedule schedule = make_schedule({.decay = Decay::linear}, 1, {.steps = 101});
  CHECK(schedule.at({.step = 20, .rate_step = 50}) == Approx(0.5));
  CHECK(schedule.at({.step = 20}) == Approx(0.8));
}
