#include "ddpkit/batch/normal_maximum.hpp"

#include <cmath>
#include <numbers>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("the expected maximum of few normal draws has closed forms") {
  const double root_pi = std::sqrt(std::numbers::pi);
  CHECK(expected_normal_maximum(1) == 0);
  CHECK(expected_normal_maximum(2) == Approx(1 / root_pi).epsilon(1e-6));
  CHECK(expected_normal_maximum(3) == Approx(1.5 / root_pi).epsilon(1e-6));
}

TEST_CASE("the expected maximum of many normal draws is that of the tables") {
  CHECK(expected_normal_maximum(10) == Approx(1.538753).epsilon(1e-6));
  CHECK(expected_normal_maximum(100) == Approx(2.507594).epsilon(1e-6));
  CHECK(expected_normal_maximum(1000) == Approx(3.241436).epsilon(1e-6));
}

TEST_CASE("the expected maximum rises with the count and stays below its bound") {
  double last = 0;
  for (std::int64_t count = 2; count <= 1LL << 33; count *= 2) {
    const double now = expected_normal_maximum(count);
    CHECK(now > last);
    CHECK(now < std::sqrt(2 * std::log(static_cast<double>(count))));
    last = now;
  }
}
