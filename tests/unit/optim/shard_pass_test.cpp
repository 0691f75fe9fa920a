#include "optim/shard_pass.hpp"

#include <random>
#include <vector>

#include "comm/reduce_kernels.hpp"
#include "optim/block_squares.hpp"
#include "support/catch.hpp"
#include "support/update_columns.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

/// The gradients of all ranks, each in memory of its own.
template <class T>
struct RankCopies {
  std::vector<std::vector<T>> values;
  std::vector<const std::byte*> pointers;

  RankCopies(std::size_t ranks, std::size_t count) : values(ranks, std::vector<T>(count)) {
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    for (auto& copy : values) {
      for (T& value : copy) value = narrowed<T>(normal(random));
      pointers.push_back(reinterpret_cast<const std::byte*>(copy.data()));
    }
  }
};

/// One after the other: reduced, squared, updated.
template <class T>
double update_in_turn(const UpdateRule& rule, const GradientCopies& gradient, std::size_t first, Columns<T>& columns) {
  std::vector<const std::byte*> sources;
  for (const std::byte* copy : gradient.copies) sources.push_back(copy + first * sizeof(T));
  auto* target = reinterpret_cast<std::byte*>(columns.gradient.data());
  const std::size_t count = columns.gradient.size();
  reduce_onto(sources, {&target, 1}, dtype_of<T>, gradient.op, count);
  BlockSquares squares;
  squares.add(target, dtype_of<T>, static_cast<std::int64_t>(count));
  update_elements(rule, dtype_of<T>, columns.strip(0, count));
  return squares.sum();
}

template <class T>
bool one_pass_is_as_good(const UpdateRule& rule, std::size_t ranks, ReduceOp op, std::size_t count) {
  constexpr std::size_t kFirst = 3;  // not where vectors would like it
  const RankCopies<T> copies(ranks, count + kFirst);
  const GradientCopies gradient{copies.pointers, op, dtype_of<T>};
  Columns<T> ours(count), expected(count);
  const BlockPlace place{
      .first = kFirst * sizeof(T),
      .count = static_cast<std::int64_t>(count),
      .parameter = reinterpret_cast<std::byte*>(ours.parameter.data()),
      .moments = {reinterpret_cast<std::byte*>(ours.first.data()), reinterpret_cast<std::byte*>(ours.second.data())}};
  const double looked = square_block(gradient, place);
  const double squares = update_block(rule, gradient, place);
  return squares == update_in_turn(rule, gradient, kFirst, expected) && squares == looked && same_columns(ours, expected);
}

template <class T>
int differences(const OptimizerOptions& options) {
  int found = 0;
  for (const std::size_t ranks : {1, 2, 3, 4})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean})
      for (const std::size_t count : {1, 31, 32, 33, 255, 256, 257, 1000, 16384})
        if (!one_pass_is_as_good<T>(rule_at(options, 3), ranks, op, count)) ++found;
  return found;
}

}  // namespace

TEST_CASE("one pass over the copies of all ranks leaves the bits of reducing, squaring and updating in turn") {
  for (const auto& [name, options] : kUpdateRules) {
    INFO(name);
    CHECK(differences<float>(options) == 0);
    CHECK(differences<double>(options) == 0);
    CHECK(differences<Half>(options) == 0);
    CHECK(differences<BFloat16>(options) == 0);
  }
}
