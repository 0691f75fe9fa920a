#include "ddpkit/batch/time_to_target.hpp"

#include <limits>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

MicroMeasurement measured_at(std::int64_t micro) {
  return {.micro = micro, .seconds = 0.002 + static_cast<double>(micro) / 10000, .half_width = 1e-6, .repeats = 10};
}

/// t(b) = 2 ms + b / (10,000 per s) on two devices; a window communicates for 4 ms and updates for 1 ms.
BatchProfile two_devices() {
  return {.world_size = 2,
          .measured = {measured_at(16), measured_at(32), measured_at(64), measured_at(128)},
          .communication_seconds = 0.004,
          .update_seconds = 0.001,
          .choice = BatchPlan{256, 128, 1}};
}

const TargetRow& row_at(const TimeToTarget& result, std::int64_t devices, std::int64_t global) {
  for (const TargetRow& row : result.rows)
    if (row.devices == devices && row.plan.global == global) return row;
  throw std::runtime_error("no such row");
}

double step_seconds(const BatchPlan& plan, double communication) {
  return static_cast<double>(plan.accumulate) * measured_at(plan.micro).seconds + communication + 0.001;
}

}  // namespace

TEST_CASE("the time to a target is the step time times the steps that the critical batch leaves") {
  const TimeToTarget result =
      time_to_target(two_devices(), {.critical = {.samples = 512}, .devices = {2}, .globals = {256, 512}});
  const TargetRow& same = row_at(result, 2, 256);
  const TargetRow& twice = row_at(result, 2, 512);
  CHECK(same.relative_steps == Approx(1));
  CHECK(same.time == Approx(1));
  CHECK(same.cost == Approx(1));
  CHECK(twice.relative_steps == Approx(2.0 / 3));
  CHECK(twice.plan.micro * twice.plan.accumulate * 2 == 512);
  CHECK(twice.step_seconds == Approx(step_seconds(twice.plan, 0.004)));
  CHECK(twice.time == Approx(twice.step_seconds / same.step_seconds * 2 / 3));
}

TEST_CASE("communication follows a ring's share beyond the devices measured, and vanishes on one") {
  const TimeToTarget result =
      time_to_target(two_devices(), {.critical = {.samples = 512}, .devices = {1, 2, 4}, .globals = {512}});
  CHECK(row_at(result, 1, 512).step_seconds == Approx(step_seconds(row_at(result, 1, 512).plan, 0)));
  CHECK(row_at(result, 4, 512).step_seconds == Approx(step_seconds(row_at(result, 4, 512).plan, 0.006)));
  CHECK_THAT(result.assumptions, Contains("An estimate") && Contains("(N - 1) / N") && Contains("2 devices of 1 node"));
  CHECK(row_at(result, 4, 512).cost == Approx(row_at(result, 4, 512).time * 2));
}

TEST_CASE("known steps of the reference give seconds and device seconds") {
  const TimeToTarget result =
      time_to_target(two_devices(), {.critical = {.samples = 512}, .devices = {4}, .globals = {512}, .reference_steps = 3000});
  const TargetRow& row = row_at(result, 4, 512);
  CHECK(result.unit == TimeToTarget::Unit::seconds);
  CHECK(row.time == Approx(2000 * row.step_seconds));
  CHECK(row.cost == Approx(4 * row.time));
}

TEST_CASE("the band of the critical batch is the band of the time") {
  const CriticalBatch critical{.samples = 500, .low = 100, .high = std::numeric_limits<double>::infinity()};
  const TimeToTarget result =
      time_to_target(two_devices(), {.critical = critical, .devices = {2}, .globals = {128, 256, 1024}});
  for (const TargetRow& row : result.rows) {
    CHECK(row.time_low <= row.time);
    CHECK(row.time <= row.time_high);
  }
  const TargetRow& large = row_at(result, 2, 1024);
  CHECK(large.time_low == Approx(large.step_seconds / result.reference.step_seconds / 4));
  CHECK(row_at(result, 2, 256).time_low == Approx(row_at(result, 2, 256).time_high));
}

TEST_CASE("with nothing named, rows go by doublings, and what cannot be shared equally is left out") {
  const TimeToTarget result = time_to_target(two_devices(), {.critical = {.samples = 512}});
  CHECK(result.rows.front().devices == 1);
  CHECK(result.rows.back().devices == 16);
  CHECK(result.rows.back().plan.global == 2048);
  const TimeToTarget thirds =
      time_to_target(two_devices(), {.critical = {.samples = 512}, .devices = {2, 3}, .globals = {256, 384}});
  CHECK(thirds.rows.size() == 3);
}

TEST_CASE("a small critical batch makes few devices cheap, a large one many devices fast") {
  const TimeToTarget large = time_to_target(two_devices(), {.critical = {.samples = 50000}});
  const TimeToTarget small = time_to_target(two_devices(), {.critical = {.samples = 5}});
  CHECK(fastest(large).devices == 16);
  CHECK(fastest(large).plan.global > fastest(small).plan.global);
  CHECK(cheapest(small).devices == 1);
  CHECK_THAT(large.explanation, Contains("fastest: global batch 2,048 on 16 devices (") && Contains("cheapest: global batch"));
}

TEST_CASE("table and charts show every row") {
  const TimeToTarget result =
      time_to_target(two_devices(), {.critical = {.samples = 512, .low = 400, .high = 700}, .devices = {1, 2, 4}});
  CHECK(target_table(result).rows().size() == result.rows.size());
  CHECK(target_table(result).rows().front().size() == target_table(result).columns().size());
  const Chart by_devices = target_chart(result, TargetQuantity::time, TargetAxis::devices);
  const Chart by_batch = target_chart(result, TargetQuantity::cost, TargetAxis::global);
  CHECK(by_batch.series.size() == 3);
  CHECK(by_batch.series.front().name == "1 device");
  REQUIRE(by_batch.guides.size() == 1);
  CHECK(by_batch.guides.front().at == 512);
  CHECK(by_devices.guides.empty());
  std::size_t points = 0;
  for (const Chart::Series& line : by_devices.series) points += line.points.size();
  CHECK(points == result.rows.size());
  CHECK(by_devices.series.front().points.front().low < by_devices.series.front().points.front().high);
}

TEST_CASE("questions without an answer say what to change") {
  CHECK_THROWS_WITH(time_to_target(two_devices(), {}), Contains("metrics.noise_scale: true"));
  CHECK_THROWS_WITH(time_to_target(two_devices(), {.critical = {.samples = 512}, .devices = {0}}), Contains("start at 1"));
  CHECK_THROWS_WITH(time_to_target(two_devices(), {.critical = {.samples = 512}, .devices = {7}, .globals = {64}}),
                    Contains("multiples"));
  CHECK_THROWS_AS(time_to_target({}, {.critical = {.samples = 512}}), ConfigError);
}
