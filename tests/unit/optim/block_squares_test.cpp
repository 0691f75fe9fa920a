#include "optim/block_squares.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/narrow_float.hpp"
#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

template <class T>
std::vector<T> random_block(std::int64_t count) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = narrowed<T>(normal(random));
  return values;
}

template <class T>
double squares_of_whole(const std::vector<T>& values) {
  BlockSquares squares;
  squares.add(values.data(), dtype_of<T>, static_cast<std::int64_t>(values.size()));
  return squares.sum();
}

template <class T>
bool adds_up(std::int64_t count) {
  const auto values = random_block<T>(count);
  long double sum = 0;
  for (const T value : values) sum += static_cast<long double>(widened(value)) * widened(value);
  return std::abs(squares_of_whole(values) - static_cast<double>(sum)) <= 1e-14 * static_cast<double>(sum);
}

template <class T>
bool pieces_do_not_matter() {
  const auto values = random_block<T>(1003);
  BlockSquares squares;
  for (const auto& [begin, count] : {std::pair{0, 32}, {32, 0}, {32, 320}, {352, 64}, {416, 587}})
    squares.add(values.data() + begin, dtype_of<T>, count);
  return squares.sum() == squares_of_whole(values);
}

// Of the contract: lane i modulo 32, each lane in order, halves folded onto each other.
template <class T>
bool follows_its_order() {
  const auto values = random_block<T>(1003);
  std::vector<double> lanes(32);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = widened(values[i]);
    const volatile double square = value * value;
    lanes[i % 32] += square;
  }
  for (std::size_t half = 16; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return squares_of_whole(values) == lanes[0];
}

}  // namespace

TEST_CASE("a block's squares are those of a plain loop, in every type") {
  for (const std::int64_t count : {0, 1, 31, 32, 33, 16384}) {
    INFO(count);
    CHECK(adds_up<float>(count));
    CHECK(adds_up<double>(count));
    CHECK(adds_up<BFloat16>(count));
    CHECK(adds_up<Half>(count));
  }
}

TEST_CASE("the bits of a block's squares do not depend on the pieces it comes in, nor on the machine") {
  CHECK(pieces_do_not_matter<float>());
  CHECK(pieces_do_not_matter<double>());
  CHECK(pieces_do_not_matter<BFloat16>());
  CHECK(pieces_do_not_matter<Half>());
  CHECK(follows_its_order<float>());
  CHECK(follows_its_order<double>());
  CHECK(follows_its_order<BFloat16>());
  CHECK(follows_its_order<Half>());
}

TEST_CASE("one element that is not finite makes a block's squares not finite") {
  auto values = random_block<float>(100);
  values[97] = std::numeric_limits<float>::infinity();
  CHECK_FALSE(std::isfinite(squares_of_whole(values)));
  values[97] = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(std::isfinite(squares_of_whole(values)));
  values[97] = std::numeric_limits<float>::max();
  CHECK(std::isfinite(squares_of_whole(values)));
}

TEST_CASE("integers have no squares here") {
  BlockSquares squares;
  CHECK_THROWS_AS(squares.add(nullptr, DType::int64, 0), UsageError);
}
