#include "ddpkit/batch/loss_curve.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"

namespace ddpkit {
namespace {

LossCurve curve(std::vector<double> losses) {
  return {.ranks = 2, .plan = {256, 64, 2}, .losses = std::move(losses)};
}

TEST_CASE("curves are compared step by step, as parts of the loss") {
  const CurveDifference difference = difference_of(curve({2, 1, 0.5}), curve({2, 1.1, 0.5, 7}));
  CHECK(difference.first == 0);
  CHECK(difference.largest == Approx(0.1 / 1.1));
  CHECK(difference.at == 2);
}

TEST_CASE("near zero, differences are parts of a thousandth of the first loss") {
  CHECK(difference_of(curve({2, 0}), curve({2, 1e-9})).largest == Approx(1e-9 / 2e-3));
}

TEST_CASE("a loss that is not finite is a difference that is none") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const CurveDifference difference = difference_of(curve({2, nan, 1}), curve({2, 1, 3}));
  CHECK(std::isnan(difference.largest));
  CHECK(difference.at == 2);
  CHECK(difference_of(curve({}), curve({1})).at == 0);
}

TEST_CASE("scatter is taken around the trend") {
  CHECK(scatter_of(curve({5, 4, 3, 2})) == Approx(0).margin(1e-12));
  std::vector<double> losses;
  for (int i = 0; i < 1001; ++i) losses.push_back(10 - 0.001 * i + (i % 2 == 0 ? 0.1 : -0.1));
  CHECK(scatter_of(curve(losses)) == Approx(0.2 / std::sqrt(2)).epsilon(0.01));
  CHECK(scatter_of(curve({1, 2})) == 0);
}

TEST_CASE("a curve is named after its plan") {
  CHECK(curve({}).name() == "2 ranks x 64 x accumulate 2");
  CHECK(LossCurve{.plan = {2048, 2048, 1}}.name() == "1 rank x 2,048");
}

}  // namespace
}  // namespace ddpkit
