#include "ddpkit/base/random.hpp"

#include <array>
#include <bit>
#include <set>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("a key depends on every part and on their order") {
  CHECK(random_key({1, 2, 3}) == random_key({1, 2, 3}));
  CHECK(random_key({1, 2, 3}) != random_key({3, 2, 1}));
  CHECK(random_key({1, 2}) != random_key({1, 2, 0}));
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch)
      for (std::uint64_t sample = 0; sample < 20; ++sample) keys.insert(random_key({seed, epoch, sample}));
  CHECK(keys.size() == 8000);
}

TEST_CASE("two generators with one key give one sequence, with neighbouring keys unrelated ones") {
  CounterRandom a(7), b(7), c(8);
  int moved = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = a();
    REQUIRE(value == b());
    moved += std::popcount(value ^ c());
  }
  CHECK(moved / 1000.0 == Approx(32).margin(0.5));  // 64 fair coins; the mean of 1000 has deviation 0.13
}

TEST_CASE("every bit of the key moves about half of the output's bits") {
  for (int bit = 0; bit < 64; ++bit) {
    int moved = 0;
    for (std::uint64_t x = 0; x < 500; ++x) moved += std::popcount(mix64(x) ^ mix64(x ^ (1ULL << bit)));
    CHECK(moved / 500.0 == Approx(32).margin(1.5));
  }
}

TEST_CASE("uniform numbers fill [0, 1) evenly") {
  CounterRandom random(random_key({1}));
  std::array<int, 10> cells{};
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = random.uniform();
    REQUIRE((x >= 0 && x < 1));
    ++cells[static_cast<std::size_t>(x * 10)];
    sum += x;
  }
  CHECK(sum / 100000 == Approx(0.5).margin(0.005));
  for (const int count : cells) CHECK(count == Approx(10000).margin(500));  // deviation 95
}

TEST_CASE("bounded numbers reach every value below the bound alike") {
  CounterRandom random(random_key({2}));
  std::array<int, 7> cells{};
  for (int i = 0; i < 70000; ++i) ++cells[random.below(7)];
  for (const int count : cells) CHECK(count == Approx(10000).margin(500));
  CHECK(random.below(1) == 0);
}
