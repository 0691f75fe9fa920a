#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/update_columns.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

/// One element as the papers say, in long double.
void update_by_the_book(const OptimizerOptions& o, std::int64_t t, double& parameter, double slope, double& first,
                        double& second) {
  const long double lr = 0.05L, decay = 0.03L, p = parameter;
  long double g = slope * 0.25L;
  if (o.name != OptimizerKind::adamw) g += decay * p;
  if (o.name == OptimizerKind::sgd) {
    const long double buffer = t == 1 ? g : o.momentum * static_cast<long double>(first) + (1.0L - o.dampening) * g;
    const long double direction = o.momentum == 0 ? g : o.nesterov ? g + o.momentum * buffer : buffer;
    first = o.momentum == 0 ? first : static_cast<double>(buffer);
    parameter = static_cast<double>(p - lr * direction);
    return;
  }
  const long double m = o.beta1 * static_cast<long double>(first) + (1.0L - o.beta1) * g;
  const long double v = o.beta2 * static_cast<long double>(second) + (1.0L - o.beta2) * g * g;
  const long double mean = m / (1 - std::pow(static_cast<long double>(o.beta1), t));
  const long double square = v / (1 - std::pow(static_cast<long double>(o.beta2), t));
  const long double kept = o.name == OptimizerKind::adamw ? p - lr * decay * p : p;
  first = static_cast<double>(m);
  second = static_cast<double>(v);
  parameter = static_cast<double>(kept - lr * mean / (std::sqrt(square) + o.eps));
}

template <class T>
double error_by_the_book(const OptimizerOptions& options) {
  constexpr std::size_t kCount = 203;
  Columns<T> ours(kCount);
  double largest = 0;
  for (std::int64_t step = 1; step <= 5; ++step) {
    const Columns<T> before = ours;  // of each step its own rounding only
    update_elements(rule_at(options, step), dtype_of<T>, ours.strip(0, kCount));
    for (std::size_t i = 0; i < kCount; ++i) {
      double parameter = widened(before.parameter[i]), first = widened(before.first[i]), second = widened(before.second[i]);
      update_by_the_book(options, step, parameter, widened(before.gradient[i]), first, second);
      largest = std::max({largest, std::abs(widened(ours.parameter[i]) - parameter) / std::max(1.0, std::abs(parameter)),
                          std::abs(widened(ours.first[i]) - first), std::abs(widened(ours.second[i]) - second)});
    }
  }
  return largest;
}

template <class T>
int cuts_that_matter(const OptimizerOptions& options) {
  int wrong = 0;
  const std::vector<std::size_t> cuts = {0, 1, 2, 3, 18, 51, 51, 84, 149, 150, 213, 300};
  Columns<T> whole(300), pieces(300), singles(300);
  for (std::int64_t step = 1; step <= 3; ++step) {
    const UpdateRule rule = rule_at(options, step);
    update_elements(rule, dtype_of<T>, whole.strip(0, 300));
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) update_elements(rule, dtype_of<T>, pieces.strip(cuts[i], cuts[i + 1]));
    for (std::size_t i = 0; i < 300; ++i) update_elements(rule, dtype_of<T>, singles.strip(i, i + 1));
    wrong += same_columns(whole, pieces) && same_columns(whole, singles) ? 0 : 1;
  }
  return wrong;
}

}  // namespace

TEST_CASE("an update is the papers' to rounding, in every type") {
  for (const auto& [rule, options] : kUpdateRules) {
    INFO(rule);
    CHECK(error_by_the_book<double>(options) < 1e-15);
    CHECK(error_by_the_book<float>(options) < 4e-7);
    CHECK(error_by_the_book<BFloat16>(options) < 1.0 / 128);
    CHECK(error_by_the_book<Half>(options) < 1.0 / 1024);
  }
}

TEST_CASE("the bits of an update do not depend on how a parameter is cut") {
  for (const auto& [rule, options] : kUpdateRules) {
    INFO(rule);
    CHECK(cuts_that_matter<double>(options) == 0);
    CHECK(cuts_that_matter<float>(options) == 0);
    CHECK(cuts_that_matter<BFloat16>(options) == 0);
    CHECK(cuts_that_matter<Half>(options) == 0);
  }
}

TEST_CASE("an update of nothing touches nothing") {
  for (const auto& [rule, options] : kUpdateRules) update_elements(rule_at(options, 1), DType::float32, {});
}

TEST_CASE("an update that was made ready does the same to strip after strip") {
  for (const auto& [rule, options] : kUpdateRules) {
    INFO(rule);
    Columns<float> ready(200), once(200);
    const ElementUpdate update(rule_at(options, 2), DType::float32);
    for (const std::size_t begin : {0, 70, 140}) {
      update(ready.strip(begin, begin + 50));
      update_elements(rule_at(options, 2), DType::float32, once.strip(begin, begin + 50));
    }
    CHECK(same_columns(ready, once));
  }
}

TEST_CASE("only moments that a rule keeps are touched") {
  Columns<float> columns(40);
  UpdateStrip strip = columns.strip(0, 40);
  strip.moments = {};
  update_elements(rule_at({}, 1), DType::float32, strip);
  strip.moments = {columns.first.data()};
  update_elements(rule_at({.momentum = 0.9}, 1), DType::float32, strip);
  CHECK(columns.first != columns.second);
}

TEST_CASE("integers cannot be updated") {
  CHECK_THROWS_AS(update_elements(UpdateRule{}, DType::int32, {}), UsageError);
}

TEST_CASE("the first update takes the whole gradient into the momentum, later ones leave out the dampening") {
  const OptimizerOptions options{.momentum = 0.9, .dampening = 0.3};
  CHECK(make_rule(options, {}, {.lr = 1}, 1, 1).gradient_share == 1);
  CHECK(make_rule(options, {}, {.lr = 1}, 1, 2).gradient_share == 0.7);
}

TEST_CASE("the names of moments follow the optimizer") {
  CHECK(moment_names({}).empty());
  CHECK(moment_names({.momentum = 0.5}) == std::vector<std::string>{"momentum_buffer"});
  CHECK(moment_names({.name = OptimizerKind::adamw}) == std::vector<std::string>{"exp_avg", "exp_avg_sq"});
  CHECK_THROWS_AS(moment_names({.nesterov = true}), ConfigError);
}
