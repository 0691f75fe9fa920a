#include "ddpkit/data/weighted_order.hpp"

#include <cmath>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/random.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

double checked_sum(std::span<const double> weights) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0)
      throw DataError(text("weight of sample ", i, ": expected a finite number of at least 0, got ", weights[i]));
    sum += weights[i];
  }
  if (!weights.empty() && !(sum > 0 && std::isfinite(sum)))
    throw DataError(text("the weights of ", weights.size(), " samples sum to ", sum, ", expected a positive finite sum"));
  return sum;
}

}  // namespace

WeightedOrder::WeightedOrder(std::span<const double> weights, std::uint64_t seed) : columns_(weights.size()), seed_(seed) {
  const double mean = checked_sum(weights) / static_cast<double>(weights.size());
  std::vector<std::size_t> poor, rich;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    columns_[i] = {weights[i] / mean, static_cast<std::int64_t>(i)};
    (columns_[i].keep < 1 ? poor : rich).push_back(i);
  }
  while (!poor.empty() && !rich.empty()) {
    const std::size_t giver = rich.back();
    Column& taker = columns_[poor.back()];
    poor.pop_back();
    taker.alias = static_cast<std::int64_t>(giver);
    columns_[giver].keep -= 1 - taker.keep;
    if (columns_[giver].keep >= 1) continue;
    rich.pop_back();
    poor.push_back(giver);
  }
  // What is left misses 1 by rounding only.
  for (const std::size_t i : poor) columns_[i].keep = 1;
}

std::int64_t WeightedOrder::at(std::int64_t epoch, std::int64_t position) const {
  CounterRandom random(random_key({seed_, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(position)}));
  const auto own = static_cast<std::int64_t>(random.below(columns_.size()));
  const Column& column = columns_[static_cast<std::size_t>(own)];
  return random.uniform() < column.keep ? own : column.alias;
}

}  // namespace ddpkit
