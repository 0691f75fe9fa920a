#include "ddpkit/tune/window_summary.hpp"

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr BatchPlan kPlanOfTwo{.global = 32, .micro = 8, .accumulate = 2};

WindowReading steady_reading() {
  return {.data_seconds = 0.1,
          .forward_seconds = 0.4,
          .backward_seconds = 0.8,
          .reduce_seconds = 0.3,
          .update_seconds = 0.2,
          .total_seconds = 2,
          .forward_peak = 1000,
          .backward_peak = 1500,
          .optimizer_peak = 700,
          .live = 500,
          .limit = 4000};
}

}  // namespace

TEST_CASE("the slowest rank sets the times of a window, and the rank that came last what the network takes") {
  WindowReading slow = steady_reading();
  slow.forward_seconds = 0.6;
  slow.reduce_seconds = 0.1;
  const std::vector<WindowOutcome> windows(3, {.ranks = {steady_reading(), slow}});
  const WindowSummary summary = summarise(kPlanOfTwo, windows);
  CHECK(summary.micro.value == Approx((0.6 + 0.8) / 2));
  CHECK(summary.phases.forward == Approx(0.6));
  CHECK(summary.phases.reduce == Approx(0.1));
  CHECK(summary.samples_per_second() == Approx(32 / 2.0));
}

TEST_CASE("shares are means over ranks, and what is not waiting is work") {
  WindowReading waiting = steady_reading();
  waiting.reduce_seconds = 0.7;
  const std::vector<WindowOutcome> windows(5, {.ranks = {steady_reading(), waiting}});
  const WindowSummary summary = summarise(kPlanOfTwo, windows);
  CHECK(summary.data_share == Approx(0.05));
  CHECK(summary.communication_share == Approx(0.25));
  CHECK(summary.utilisation == Approx(0.70));
  CHECK(summary.measurement().utilisation.value() == Approx(0.70));
}

TEST_CASE("of a single window the interval is as wide as the value, and finite") {
  const std::vector<WindowOutcome> one{{.ranks = {steady_reading()}}};
  const MicroMeasurement measurement = summarise(kPlanOfTwo, one).measurement();
  CHECK(measurement.half_width == Approx(measurement.seconds));
}

TEST_CASE("an accelerator that tells how busy it is overrules the shares, unless a rank's does not") {
  WindowReading busy = steady_reading();
  busy.device_busy = 0.4;
  WindowReading busier = busy;
  busier.device_busy = 0.6;
  const std::vector<WindowOutcome> told(3, {.ranks = {busy, busier}}), half_told(3, {.ranks = {busy, steady_reading()}});
  CHECK(summarise(kPlanOfTwo, told).utilisation == Approx(0.5));
  CHECK(summarise(kPlanOfTwo, half_told).utilisation == Approx(0.8));
}

TEST_CASE("the fullest rank sets the peak and the smallest limit counts") {
  WindowReading full = steady_reading();
  full.backward_peak = 1800;
  full.limit = 3000;
  const std::vector<WindowOutcome> windows{{.ranks = {steady_reading(), steady_reading()}},
                                           {.ranks = {steady_reading(), full}}};
  const WindowSummary summary = summarise(kPlanOfTwo, windows);
  CHECK(summary.peak_bytes() == 1800);
  CHECK(summary.peaks.forward == 1000);
  CHECK(summary.limit_bytes() == 3000);
  CHECK(summary.memory[0].peak == 1500);
  CHECK(summary.measurement().peak_bytes == 1800);
}

TEST_CASE("memory that grows with every window is told, memory that grew once is not") {
  std::vector<WindowOutcome> leaking, warming;
  for (int i = 0; i < 6; ++i) {
    WindowReading reading = steady_reading();
    reading.live = 500 + 64 * i;
    leaking.push_back({.ranks = {steady_reading(), reading}});
    reading.live = i == 0 ? 500 : 900;
    warming.push_back({.ranks = {steady_reading(), reading}});
  }
  CHECK(summarise(kPlanOfTwo, leaking).growth == 64);
  CHECK(summarise(kPlanOfTwo, warming).growth == 0);
}
