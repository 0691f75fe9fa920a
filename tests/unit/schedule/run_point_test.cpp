#include "ddpkit/schedule/run_point.hpp"

#include "support/catch.hpp"

using namespace ddpkit;
using enum Extent::Unit;

namespace {

constexpr RunBounds kEpochs{.epochs = 10, .samples = 30};
constexpr RunBounds kSteps{.steps = 40, .samples = 30};

}  // namespace

TEST_CASE("steps count windows, epochs count samples, whatever sizes the windows had") {
  const RunPoint point{.step = 7, .epoch = 2, .position = 15};
  CHECK(laps({2, steps}, point, kEpochs) == 3);
  CHECK(laps({1, epochs}, point, kEpochs) == 2);
  CHECK(laps({0.5, epochs}, point, kEpochs) == 5);
}

TEST_CASE("a percentage counts what the run was given in") {
  const RunPoint point{.step = 8, .epoch = 5, .position = 0};
  CHECK(laps({25, percent}, point, kEpochs) == 2);
  CHECK(laps({10, percent}, point, kSteps) == 2);
}

TEST_CASE("parts that have no exact binary form are reached at their sample and not after it") {
  for (std::int64_t tenth = 1; tenth <= 100; ++tenth) {
    const std::int64_t samples = 3 * tenth;
    const RunPoint there{.epoch = samples / 30, .position = samples % 30};
    const RunPoint before{.epoch = (samples - 1) / 30, .position = (samples - 1) % 30};
    const Extent stretch{static_cast<double>(tenth) / 10, epochs};
    CHECK(laps({0.1, epochs}, there, kEpochs) == tenth);
    CHECK(laps({0.1, epochs}, before, kEpochs) == tenth - 1);
    CHECK(has_passed(stretch, {}, there, kEpochs));
    CHECK_FALSE(has_passed(stretch, {}, before, kEpochs));
  }
}

TEST_CASE("a stretch of nothing has passed at once and never comes round") {
  CHECK(has_passed({0, steps}, {}, {}, kEpochs));
  CHECK(laps({0, steps}, {.step = 5}, kEpochs) == 0);
}

TEST_CASE("a distance is measured from where it begins") {
  const RunPoint from{.step = 4, .epoch = 1, .position = 10};
  CHECK_FALSE(has_passed({1, epochs}, from, {.step = 9, .epoch = 2, .position = 9}, kEpochs));
  CHECK(has_passed({1, epochs}, from, {.step = 9, .epoch = 2, .position = 10}, kEpochs));
  CHECK(has_passed({5, steps}, from, {.step = 9, .epoch = 2, .position = 9}, kEpochs));
}

TEST_CASE("the windows until a place reach it with the last and not before") {
  CHECK(windows_until({0.5, epochs}, {.position = 2}, 5, kEpochs) == 3);
  CHECK(windows_until({0.5, epochs}, {.position = 5}, 5, kEpochs) == 2);
  CHECK(windows_until({12, steps}, {.step = 7}, 5, kEpochs) == 5);
  CHECK(windows_until({3, steps}, {.step = 7}, 5, kEpochs) == 0);
}

TEST_CASE("steps end a run where they are given, and epochs otherwise") {
  CHECK(kSteps.over({.step = 40}));
  CHECK_FALSE(kSteps.over({.step = 39, .epoch = 99}));
  CHECK(kEpochs.over({.step = 3, .epoch = 10}));
  CHECK_FALSE(kEpochs.over({.step = 999, .epoch = 9, .position = 29}));
}
