#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/narrow_float.hpp"
#include "optim/update_rule.hpp"

namespace ddpkit::testing {

/// What an update reads and writes, with fixed random parameters and gradients.
template <class T>
struct Columns {
  std::vector<T> parameter, gradient, first, second;

  explicit Columns(std::size_t count) : parameter(count), gradient(count), first(count), second(count) {
    std::mt19937_64 random(3);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < count; ++i) {
      parameter[i] = narrowed<T>(normal(random));
      gradient[i] = narrowed<T>(normal(random));
    }
  }

  UpdateStrip strip(std::size_t begin, std::size_t end) {
    return {.parameter = parameter.data() + begin,
            .gradient = gradient.data() + begin,
            .moments = {first.data() + begin, second.data() + begin},
            .count = static_cast<std::int64_t>(end - begin)};
  }
};

template <class T>
bool same_columns(const Columns<T>& a, const Columns<T>& b) {
  const auto equal = [](const std::vector<T>& x, const std::vector<T>& y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
  };
  return equal(a.parameter, b.parameter) && equal(a.first, b.first) && equal(a.second, b.second);
}

inline const std::vector<std::pair<std::string, OptimizerOptions>> kUpdateRules = {
    {"sgd", {}},
    {"sgd with momentum", {.momentum = 0.9, .dampening = 0.25}},
    {"sgd with Nesterov's momentum", {.momentum = 0.8, .nesterov = true}},
    {"adam", {.name = OptimizerKind::adam, .beta1 = 0.4}},
    {"adamw", {.name = OptimizerKind::adamw, .eps = 1e-6}},
};

/// With a rate of 0.05, a decay of 0.03 and gradients scaled by 0.25.
inline UpdateRule rule_at(const OptimizerOptions& options, std::int64_t updates) {
  return make_rule(options, {.lr_factor = 0.5, .weight_decay = 0.03}, {.lr = 0.1}, 0.25, updates);
}

}  // namespace ddpkit::testing
