#include "ddpkit/batch/batch_schedule.hpp"

#include <random>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Contains;
using enum Extent::Unit;

namespace {

struct Seen {
  RunPoint start;
  std::int64_t samples = 0;
  BatchInForce batch;
};

/// The run window by window, from the rules alone: what the schedule answers by arithmetic.
std::vector<Seen> go_through(const BatchSchedule& schedule, const RunBounds& run, Tail tail) {
  std::vector<Seen> windows;
  RunPoint point;
  while (!run.over(point)) {
    const BatchInForce batch = schedule.at(point);
    const std::int64_t left = run.samples - point.position;
    const bool nothing_left = left == 0 || (tail == Tail::drop && left < batch.global);
    if (nothing_left) {
      point = {.step = point.step, .epoch = point.epoch + 1};
      continue;
    }
    const std::int64_t samples = std::min(left, batch.global);
    windows.push_back({point, samples, batch});
    ++point.step;
    point.position += samples;
    const std::int64_t rest = run.samples - point.position;
    if (rest == 0 || (tail == Tail::drop && rest < batch.global)) point = {.step = point.step, .epoch = point.epoch + 1};
  }
  return windows;
}

std::vector<std::int64_t> sizes(const std::vector<Seen>& windows) {
  std::vector<std::int64_t> out;
  for (const Seen& window : windows) out.push_back(window.samples);
  return out;
}

using Sizes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("without changes every window has the batch that was asked for") {
  const RunBounds run{.epochs = 2, .samples = 10};
  const BatchSchedule schedule({.global = 4}, run, Tail::partial);
  CHECK(schedule.constant());
  CHECK(sizes(go_through(schedule, run, Tail::partial)) == Sizes{4, 4, 2, 4, 4, 2});
  CHECK(schedule.steps() == 6);
}

TEST_CASE("a row in steps changes the batch after that many windows, also in the middle of an epoch") {
  const RunBounds run{.epochs = 2, .samples = 20};
  const BatchOptions options{.global = 4, .schedule = {{.at = {2, steps}, .global = 8}}};
  const BatchSchedule schedule(options, run, Tail::partial);
  CHECK(sizes(go_through(schedule, run, Tail::partial)) == Sizes{4, 4, 8, 4, 8, 8, 4});
  CHECK(schedule.steps() == 7);
}

TEST_CASE("a row in epochs waits for the end of the window in which it comes due") {
  const RunBounds run{.epochs = 3, .samples = 20};
  const BatchOptions options{.global = 6, .schedule = {{.at = {1.5, epochs}, .global = 2}, {.at = {2, epochs}, .global = 10}}};
  const BatchSchedule schedule(options, run, Tail::partial);
  CHECK(sizes(go_through(schedule, run, Tail::partial)) == Sizes{6, 6, 6, 2, 6, 6, 2, 2, 2, 2, 10, 10});
  CHECK(schedule.steps() == 12);
}

TEST_CASE("a row in per cent means the epochs of a run given in epochs, and the steps of one given in steps") {
  const BatchOptions options{.global = 4, .schedule = {{.at = {50, percent}, .global = 8}}};
  const RunBounds by_epochs{.epochs = 2, .samples = 16};
  CHECK(sizes(go_through({options, by_epochs, Tail::drop}, by_epochs, Tail::drop)) == Sizes{4, 4, 4, 4, 8, 8});
  const RunBounds by_steps{.steps = 6, .samples = 16};
  CHECK(sizes(go_through({options, by_steps, Tail::drop}, by_steps, Tail::drop)) == Sizes{4, 4, 4, 8, 8, 8});
}

TEST_CASE("dropped tails are those of the batch in force") {
  const RunBounds run{.epochs = 2, .samples = 22};
  const BatchOptions options{.global = 4, .schedule = {{.at = {3, steps}, .global = 12}}};
  const BatchSchedule schedule(options, run, Tail::drop);
  CHECK(sizes(go_through(schedule, run, Tail::drop)) == Sizes{4, 4, 4, 12});  // 10 are too few for a window of 12
  CHECK(schedule.steps() == 4);
}

TEST_CASE("each row waits for the one before it") {
  const RunBounds run{.epochs = 2, .samples = 16};
  const BatchOptions options{.global = 2, .schedule = {{.at = {12, steps}, .global = 4}, {.at = {1, epochs}, .global = 8}}};
  CHECK(sizes(go_through({options, run, Tail::drop}, run, Tail::drop)) == Sizes{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 8});
}

TEST_CASE("growth by the calendar multiplies at equal distances up to its limit") {
  const RunBounds run{.epochs = 5, .samples = 24};
  BatchOptions options{.global = 3, .growth = {.by = GrowthBy::geometric, .max = 12}};
  const auto table = [&] {
    const BatchSchedule schedule(options, run, Tail::drop);
    std::vector<std::int64_t> batches;
    for (const BatchChange& row : schedule.rows()) batches.push_back(row.global);
    return batches;
  };
  CHECK(table() == Sizes{6, 12});
  options.growth.max = 11;
  CHECK(table() == Sizes{6});
  options.growth.max = 0;
  CHECK(table() == Sizes{6, 12, 24});  // as large as the data set
  CHECK(BatchSchedule(options, run, Tail::drop).steps() == 8 + 4 + 2 + 1 + 1);
  options.growth.every = {0.5, epochs};
  CHECK(BatchSchedule(options, run, Tail::drop).rows()[1].at == Extent{1, epochs});
}

TEST_CASE("the batch of the rate stays under hold, follows in proportion under scale, and mixes") {
  const RunBounds run{.steps = 100, .samples = 1000};
  const BatchOptions options{.global = 32,
                             .schedule = {{.at = {10, steps}, .global = 128, .lr = RateChange::hold},
                                          {.at = {20, steps}, .global = 256, .lr = RateChange::scale},
                                          {.at = {30, steps}, .global = 64, .lr = RateChange::scale}}};
  const BatchSchedule schedule(options, run, Tail::drop);
  CHECK(schedule.at({.step = 9}) == BatchInForce{32, 32});
  CHECK(schedule.at({.step = 10}) == BatchInForce{128, 32});
  CHECK(schedule.at({.step = 20}) == BatchInForce{256, 64});
  CHECK(schedule.at({.step = 99}) == BatchInForce{64, 16});
}

TEST_CASE("the length of a run is what going through it window by window gives, in 3,000 random runs") {
  std::mt19937 random(5);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 3000; ++trial) {
    const RunBounds run{.epochs = draw(0, 6), .samples = draw(1, 60)};
    const Tail tail = std::array{Tail::drop, Tail::pad, Tail::partial}[static_cast<std::size_t>(draw(0, 2))];
    BatchOptions options{.global = draw(1, run.samples)};
    for (std::int64_t row = 0; row < draw(0, 4); ++row) {
      const Extent::Unit unit = std::array{steps, epochs, percent}[static_cast<std::size_t>(draw(0, 2))];
      const double amount = unit == steps ? static_cast<double>(draw(1, 60)) : static_cast<double>(draw(1, 30)) / 8;
      options.schedule.push_back({.at = {amount * (unit == percent ? 20 : 1), unit}, .global = draw(1, run.samples)});
    }
    const BatchSchedule schedule(options, run, tail);
    REQUIRE(schedule.steps() == static_cast<std::int64_t>(go_through(schedule, run, tail).size()));
  }
}

TEST_CASE("every sample of an epoch is in one window, also where the batch changes in the middle") {
  const RunBounds run{.epochs = 4, .samples = 50};
  const BatchOptions options{.global = 4,
                             .schedule = {{.at = {1.3, epochs}, .global = 12}, {.at = {2.5, epochs}, .global = 2}}};
  std::vector<std::int64_t> used(4, 0);
  for (const Seen& window : go_through({options, run, Tail::partial}, run, Tail::partial)) {
    CHECK(window.start.position == used[static_cast<std::size_t>(window.start.epoch)]);
    used[static_cast<std::size_t>(window.start.epoch)] += window.samples;
  }
  CHECK(used == Sizes{50, 50, 50, 50});
}

TEST_CASE("the clock of the rate is the step where nothing changes, and never runs back where something does") {
  for (const Tail tail : {Tail::drop, Tail::pad, Tail::partial}) {
    const ShardedSampler first(22, {.global = 4, .tail = tail});
    const ShardedSampler larger(22, {.global = 10, .tail = tail});
    const ShardedSampler smaller(22, {.global = 2, .tail = tail});
    const auto clock = [&](const ShardedSampler& sampler) {
      std::vector<std::int64_t> ticks;
      for (std::int64_t epoch = 0; epoch < 2; ++epoch)
        for (std::int64_t i = 0; i < sampler.windows_per_epoch(); ++i)
          ticks.push_back(step_at_constant_batch(sampler.window(epoch, i), sampler, first));
      return ticks;
    };
    if (tail == Tail::drop) {
      CHECK(clock(first) == Sizes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
      CHECK(clock(larger) == Sizes{2, 4, 7, 9});
      CHECK(clock(smaller) == Sizes{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9});
    } else {
      CHECK(clock(first) == Sizes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
      CHECK(clock(larger) == Sizes{2, 4, 5, 8, 10, 11});
    }
  }
}

TEST_CASE("a batch larger than the data set is refused by its row") {
  const RunBounds run{.epochs = 2, .samples = 100};
  const BatchOptions options{.global = 4, .schedule = {{.at = {1, steps}, .global = 8}, {.at = {2, steps}, .global = 128}}};
  CHECK_THROWS_WITH(BatchSchedule(options, run, Tail::partial), Contains("batch.schedule[1].global") && Contains("128"));
}

TEST_CASE("a batch that the ranks cannot share is refused by its row before anything runs") {
  const BatchOptions options{.global = 4, .schedule = {{.at = {1, steps}, .global = 8}, {.at = {2, steps}, .global = 30}}};
  CHECK_NOTHROW(require_schedule_fits(options, 2));
  CHECK_THROWS_WITH(require_schedule_fits(options, 4), Contains("batch.schedule[1]") && Contains("global batch 30"));
}
