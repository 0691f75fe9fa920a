#include "ddpkit/batch/sweep.hpp"

#include <numeric>

#include "batch/divisors.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/batch/memory_model.hpp"
#include "ddpkit/batch/throughput_model.hpp"
#include "support/catch.hpp"
#include "support/synthetic_machine.hpp"

using namespace ddpkit;
using ddpkit::testing::SyntheticMachine;

namespace {

constexpr double kMiB = 1 << 20;

SyntheticMachine affine_machine(double t0, double rate) {
  return {.seconds = [=](double b) { return t0 + b / rate; }};
}

/// Fixed part 100 MiB, then the larger of two phases.
double convex_bytes(double b) {
  return kMiB * std::max(100 + 0.5 * b, 60 + 1.25 * b);
}

std::vector<std::int64_t> sizes(const Sweep& sweep) {
  std::vector<std::int64_t> micros;
  for (const auto& at : sweep.measured()) micros.push_back(at.micro);
  return micros;
}

bool was_measured(const Sweep& sweep, std::int64_t micro) {
  return std::ranges::count(sizes(sweep), micro) == 1;
}

}  // namespace

TEST_CASE("noise of 4 % leaves the knee within one refinement step in 95 of 100 runs") {
  for (const double truth : {20.0, 100.0, 700.0}) {  // t0 x rate = truth / 9
    const double rate = 5000, t0 = truth / 9 / rate;
    SyntheticMachine machine = affine_machine(t0, rate);
    machine.noise = 0.04;
    int found = 0, inside_band = 0, most = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Sweep sweep({});
      most = std::max(most, testing::run(sweep, machine, seed));
      const auto knee = ThroughputModel(sweep.measured()).knee(0.9);
      const double step = std::exp2(std::floor(std::log2(truth))) / 4;
      found += std::abs(knee.micro - truth) <= step;
      inside_band += knee.low <= truth && truth <= knee.high;
      const auto near =
          std::ranges::min(sizes(sweep), {}, [&](auto micro) { return std::abs(static_cast<double>(micro) - truth); });
      CHECK(std::abs(static_cast<double>(near) - truth) <= step);
    }
    INFO("knee " << truth);
    CHECK(found >= 95);
    CHECK(inside_band >= 85);
    CHECK(most < 20);
  }
}

TEST_CASE("the largest size that fits is found exactly, and its peak predicted within 5 %") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CounterRandom random(random_key({seed, 1}));
    const double fixed = 50 + 200 * random.uniform(), first = 0.2 + random.uniform(),
                 second = first * (1.2 + 2 * random.uniform());
    const double bend = 10 + 300 * random.uniform(), allowed = fixed + first * bend + second * 400 * random.uniform();
    SyntheticMachine machine = affine_machine(0.05, 5000);
    machine.noise = 0.03;
    machine.bytes = [=](double b) { return kMiB * (fixed + first * b + (second - first) * std::max(b - bend, 0.0)); };
    const double limit = allowed * kMiB / 0.9;
    machine.memory = limit;
    Sweep sweep({.memory_limit = static_cast<std::int64_t>(limit)});
    CHECK(testing::run(sweep, machine, seed) < 30);
    std::int64_t truth = 1;
    while (machine.bytes(static_cast<double>(truth + 1)) <= 0.9 * std::floor(limit)) ++truth;
    CHECK(sweep.largest_feasible() == truth);
    const double predicted = MemoryModel(sweep.measured()).peak_bytes(static_cast<double>(truth));
    CHECK(predicted == Approx(machine.bytes(static_cast<double>(truth))).epsilon(0.05));
  }
}

TEST_CASE("without a known limit the largest size is found by bisection alone") {
  for (const double megabytes : {160.0, 173.0, 500.0, 900.0}) {
    SyntheticMachine machine = affine_machine(0.5, 5000);
    machine.bytes = convex_bytes;
    machine.memory = megabytes * kMiB;
    Sweep sweep({});
    CHECK(testing::run(sweep, machine, 1) < 30);
    const auto largest = sweep.largest_feasible();
    REQUIRE(largest);
    CHECK(machine.runs(*largest));
    CHECK_FALSE(machine.runs(*largest + 1));
  }
}

TEST_CASE("peaks that are noisy by 1 % still bracket the largest size") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SyntheticMachine machine = affine_machine(0.5, 5000);
    machine.bytes = [seed](double b) {
      CounterRandom random(random_key({seed, static_cast<std::uint64_t>(b)}));
      return convex_bytes(b) * (0.99 + 0.02 * random.uniform());
    };
    Sweep sweep({.memory_limit = static_cast<std::int64_t>(600 * kMiB)});
    CHECK(testing::run(sweep, machine, seed) < 30);
    const auto largest = sweep.largest_feasible();
    REQUIRE(largest);
    CHECK(machine.bytes(static_cast<double>(*largest)) <= 540 * kMiB);
    CHECK(machine.bytes(static_cast<double>(*largest + 1)) > 540 * kMiB);
    CHECK(static_cast<double>(*largest) == Approx(384).epsilon(0.03));
  }
}

TEST_CASE("no size is tried that is predicted not to fit, but the one past the largest") {
  SyntheticMachine machine = affine_machine(0.5, 5000);
  machine.bytes = [](double b) { return kMiB * (100 + b); };
  Sweep sweep({.memory_limit = static_cast<std::int64_t>(1000 * kMiB)});
  testing::run(sweep, machine, 1);
  CHECK(sweep.largest_feasible() == 800);
  CHECK(sizes(sweep).back() == 801);
  CHECK(sweep.out_of_memory().empty());
}

TEST_CASE("where the plateau comes first memory is left alone and the sweep ends soon") {
  SyntheticMachine machine = affine_machine(1e-3, 8000);  // knee at 72
  machine.bytes = convex_bytes;
  Sweep sweep({.memory_limit = std::int64_t{1} << 40});
  CHECK(testing::run(sweep, machine, 1) <= 15);
  CHECK_FALSE(sweep.largest_feasible());
  CHECK(sizes(sweep).back() <= 1024);
}

TEST_CASE("windows that differ by 15 % do not keep the sweep growing") {
  SyntheticMachine machine = affine_machine(2e-3, 5000);  // knee at 90
  machine.noise = 0.15;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Sweep sweep({});
    CHECK(testing::run(sweep, machine, seed) < 20);
  }
}

TEST_CASE("a machine on which every size fails ends at once and says so") {
  SyntheticMachine machine = affine_machine(1, 1);
  machine.bytes = convex_bytes;
  machine.memory = 1;
  Sweep sweep({.min_micro = 4, .wanted = {4, 8}});
  CHECK(testing::run(sweep, machine, 1) == 1);
  CHECK(sweep.measured().empty());
  CHECK(sweep.out_of_memory() == std::vector<std::int64_t>{4});
  CHECK(sweep.largest_feasible() == 0);
  Sweep over({.memory_limit = 1});  // runs, but beyond the target
  machine.memory = 0;
  CHECK(testing::run(over, machine, 1) == 1);
  CHECK(over.largest_feasible() == 0);
}

TEST_CASE("a machine that never fills and never flattens ends at 2^40") {
  Sweep sweep({});
  CHECK(testing::run(sweep, {.seconds = [](double) { return 1.0; }}, 1) < 50);
  CHECK(sizes(sweep).back() == std::int64_t{1} << 40);
  CHECK_FALSE(sweep.largest_feasible());
}

TEST_CASE("with equal ends there is one measurement") {
  Sweep sweep({.min_micro = 24, .max_micro = 24});
  CHECK(testing::run(sweep, affine_machine(1, 1), 1) == 1);
  CHECK(sizes(sweep) == std::vector<std::int64_t>{24});
}

TEST_CASE("the ends of a sweep are kept, also where they are no powers of two") {
  Sweep sweep({.min_micro = 3, .max_micro = 50, .wanted = {1, 2, 40, 100}});
  testing::run(sweep, affine_machine(1, 10), 1);
  CHECK(sizes(sweep).front() == 3);
  CHECK(sizes(sweep).back() == 50);
  CHECK(was_measured(sweep, 40));
  CHECK_THROWS_AS(Sweep({.min_micro = 8, .max_micro = 7}), ConfigError);
  CHECK_THROWS_AS(Sweep({.min_micro = 0}), ConfigError);
}

TEST_CASE("sizes near 2^63 do not overflow a sweep") {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  Sweep sweep({.min_micro = kHuge / 2, .max_micro = kHuge, .wanted = {kHuge - 1}});
  CHECK(testing::run(sweep, affine_machine(1e15, 1), 1) < 30);
}

TEST_CASE("refinement prefers multiples of 8") {
  Sweep sweep({});
  testing::run(sweep, affine_machine(0.01, 1100), 1);  // knee at 99
  CHECK(was_measured(sweep, 96));
  Sweep from_three({.min_micro = 3});
  testing::run(from_three, affine_machine(0.01, 633), 1);  // knee at 57, between 48 and 96
  CHECK(was_measured(from_three, 56));
}

TEST_CASE("the wanted sizes around the choice are measured") {
  for (const std::int64_t local : {60, 360, 1000, 4096}) {
    const std::vector<std::int64_t> wanted = divisors(local);
    SyntheticMachine machine = affine_machine(0.002, 5000);
    machine.noise = 0.02;
    Sweep sweep({.wanted = wanted});
    testing::run(sweep, machine, static_cast<std::uint64_t>(local));
    const auto efficiency = [](std::int64_t b) { return static_cast<double>(b) / static_cast<double>(b + 10); };
    const double enough = std::min(0.9, 0.99 * efficiency(local));
    const auto choice = std::ranges::find_if(wanted, [&](auto b) { return efficiency(b) >= enough; });
    CHECK(was_measured(sweep, *choice));
  }
}

TEST_CASE("past a cache the measured curve gives the knee") {
  SyntheticMachine machine{.seconds = [](double b) { return 0.001 + (b + 2 * std::max(b - 64, 0.0)) / 8000; }};
  machine.noise = 0.02;
  Sweep sweep({});
  CHECK(testing::run(sweep, machine, 3) < 20);
  const ThroughputModel model(sweep.measured());
  CHECK(model.basis() == ThroughputModel::Basis::measured);
  CHECK(model.knee(0.9).micro < 64);
  CHECK(model.knee(0.9).micro > 32);
}

TEST_CASE("ranks that observe the same take the same course, and nothing else is observed") {
  Sweep sweep({});
  CHECK_THROWS_AS(sweep.observe({.micro = 7, .seconds = 1}), UsageError);
  CHECK_THROWS_AS(sweep.observe_out_of_memory(2), UsageError);
  Sweep copy = sweep;
  SyntheticMachine machine = affine_machine(0.01, 1000);
  machine.noise = 0.1;
  testing::run(sweep, machine, 5);
  testing::run(copy, machine, 5);
  CHECK(sizes(copy) == sizes(sweep));
}
