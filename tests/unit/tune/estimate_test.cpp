#include "ddpkit/tune/estimate.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("the interval holds the true value in about 95 of 100 cases, from six samples on") {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(10, 0.5);
  for (const std::size_t count : {6, 8, 30, 200}) {
    int inside = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> samples(count);
      for (double& sample : samples) sample = noise(random);
      const Estimate found = estimate(samples);
      inside += found.low() <= 10 && 10 <= found.high() ? 1 : 0;
    }
    CAPTURE(count, inside);
    CHECK(inside > 0.93 * 2000);
    CHECK(inside < 0.97 * 2000);
  }
}

TEST_CASE("one window that was held up moves neither value nor interval") {
  const std::vector<double> calm{1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.01, 0.99};
  std::vector<double> disturbed = calm;
  disturbed[3] = 50;
  CHECK(estimate(disturbed).value == Approx(estimate(calm).value).epsilon(0.01));
  CHECK(estimate(disturbed).half_width < 2 * estimate(calm).half_width);
}

TEST_CASE("more samples of the same spread narrow the interval") {
  std::vector<double> few, many;
  for (int i = 0; i < 10; ++i) few.push_back(1 + 0.01 * (i % 5));
  for (int i = 0; i < 1000; ++i) many.push_back(1 + 0.01 * (i % 5));
  CHECK(estimate(many).half_width < estimate(few).half_width / 8);
}

TEST_CASE("a single sample has no interval, and no samples give nothing") {
  const std::vector<double> one{2.5};
  CHECK(estimate(one).value == 2.5);
  CHECK(std::isinf(estimate(one).half_width));
  CHECK(estimate({}).value == 0);
}
