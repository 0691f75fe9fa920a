#include "ddpkit/observe/rate_meter.hpp"

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

RateMeter::Time at(double seconds) {
  return RateMeter::Time(std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
}

}  // namespace

TEST_CASE("throughput is samples divided by seconds") {
  RateMeter meter;
  CHECK_FALSE(meter.samples_per_second().has_value());
  meter.update(at(0), 0, 0);
  CHECK_FALSE(meter.samples_per_second().has_value());
  meter.update(at(4), 10, 10 * 512);
  CHECK(meter.samples_per_second().value() == Approx(1280));
}

TEST_CASE("time left is the rest of the steps at the present rate") {
  RateMeter meter;
  meter.update(at(0), 0, 0);
  meter.update(at(5), 10, 100);
  CHECK(meter.time_left(30).value().count() == Approx(10));
  CHECK(meter.time_left(10).value().count() == 0);
  CHECK(meter.time_left(5).value().count() == 0);
}

TEST_CASE("a resumed run does not count what an earlier process did") {
  RateMeter meter;
  meter.update(at(100), 5000, 640000);
  meter.update(at(110), 5010, 641280);
  CHECK(meter.samples_per_second().value() == Approx(128));
  CHECK(meter.time_left(5020).value().count() == Approx(10));
}

TEST_CASE("the rate follows a change within the window of half a minute") {
  RateMeter meter;
  std::int64_t samples = 0;
  for (int second = 0; second <= 100; ++second) meter.update(at(second), second, samples += 1000);
  for (int second = 101; second <= 140; ++second) meter.update(at(second), second, samples += 200);
  CHECK(meter.samples_per_second().value() == Approx(200));
}

TEST_CASE("thousands of updates in a moment neither pile up nor lose the rate") {
  RateMeter meter;
  for (int i = 0; i <= 100000; ++i) meter.update(at(i * 0.001), i, 64 * i);
  CHECK(meter.samples_per_second().value() == Approx(64000).epsilon(1e-3));
}

TEST_CASE("two updates at one time, or without a step between them, give no estimate and no division by zero") {
  RateMeter meter;
  meter.update(at(1), 0, 0);
  meter.update(at(1), 5, 50);
  CHECK_FALSE(meter.samples_per_second().has_value());
  RateMeter idle;
  idle.update(at(1), 5, 50);
  idle.update(at(2), 5, 50);
  CHECK(idle.samples_per_second().value() == 0);
  CHECK_FALSE(idle.time_left(10).has_value());
}
