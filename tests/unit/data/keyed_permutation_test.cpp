#include "ddpkit/data/keyed_permutation.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>
#include <vector>

#include "chi_square.hpp"
#include "ddpkit/base/random.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

std::vector<std::int64_t> all_of(const KeyedPermutation& permutation) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < permutation.size(); ++i) values.push_back(permutation.at(i));
  return values;
}

bool is_permutation_of_range(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

bool is_even(const std::vector<std::int64_t>& values) {
  int inversions = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j) inversions += values[i] > values[j] ? 1 : 0;
  return inversions % 2 == 0;
}

std::uint64_t key_of(std::int64_t trial) {
  return random_key({7, static_cast<std::uint64_t>(trial)});
}

}  // namespace

TEST_CASE("every index appears exactly once, for each size up to 2000") {
  for (std::int64_t size = 0; size <= 2000; ++size) {
    const KeyedPermutation permutation(size, key_of(size));
    if (!is_permutation_of_range(all_of(permutation))) FAIL("size " << size);
  }
}

TEST_CASE("the inverse finds each index again") {
  for (const std::int64_t size : {1, 2, 5, 1000, 1024, 1025, 4099}) {
    const KeyedPermutation permutation(size, key_of(size));
    for (std::int64_t i = 0; i < size; ++i)
      if (permutation.inverse(permutation.at(i)) != i) FAIL("size " << size << ", index " << i);
  }
}

TEST_CASE("huge sizes give distinct values in range, each of which leads back to its index") {
  for (const std::int64_t size : {(std::int64_t{1} << 31) + 11, (std::int64_t{1} << 40) - 1, std::int64_t{1} << 62}) {
    const KeyedPermutation permutation(size, key_of(3));
    std::unordered_set<std::int64_t> seen;
    for (const std::int64_t begin : {std::int64_t{0}, size / 2, size - 20'000}) {
      for (std::int64_t i = begin; i < begin + 20'000; ++i) {
        const std::int64_t value = permutation.at(i);
        if (value < 0 || value >= size || permutation.inverse(value) != i) FAIL("size " << size << ", index " << i);
        seen.insert(value);
      }
    }
    CHECK(seen.size() == 60'000);
  }
}

TEST_CASE("every value is equally likely at every position, for sizes 3 to 16") {
  constexpr std::int64_t kTrials = 20'000;
  for (std::int64_t size = 3; size <= 16; ++size) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(size * size));
    for (std::int64_t trial = 0; trial < kTrials; ++trial) {
      const KeyedPermutation permutation(size, key_of(trial));
      for (std::int64_t i = 0; i < size; ++i) ++counts[static_cast<std::size_t>(i * size + permutation.at(i))];
    }
    INFO("size " << size);
    CHECK(chi_square_sigmas(counts, static_cast<double>((size - 1) * (size - 1))) < 5);
  }
}

TEST_CASE("all orders of three, four and five samples are equally likely") {
  constexpr std::int64_t kTrials = 120'000;
  for (const std::int64_t size : {3, 4, 5}) {
    std::map<std::vector<std::int64_t>, std::int64_t> seen;
    for (std::int64_t trial = 0; trial < kTrials; ++trial) ++seen[all_of(KeyedPermutation(size, key_of(trial)))];
    const std::size_t orders = size == 3 ? 6 : size == 4 ? 24 : 120;
    REQUIRE(seen.size() == orders);
    std::vector<std::int64_t> counts;
    for (const auto& [order, count] : seen) counts.push_back(count);
    INFO("size " << size);
    CHECK(chi_square_sigmas(counts, static_cast<double>(orders - 1)) < 5);
  }
}

TEST_CASE("even and odd orders are equally likely, also for products of odd numbers") {
  for (const std::int64_t size : {2, 6, 8, 9, 15, 25}) {
    std::vector<std::int64_t> counts(2);
    for (std::int64_t trial = 0; trial < 5000; ++trial)
      ++counts[is_even(all_of(KeyedPermutation(size, key_of(trial)))) ? 0 : 1];
    INFO("size " << size);
    CHECK(chi_square_sigmas(counts, 1) < 5);
  }
}

TEST_CASE("neighbours in a large permutation are not correlated") {
  for (const std::int64_t size : {std::int64_t{60'000}, std::int64_t{1} << 24, (std::int64_t{1} << 31) + 11}) {
    const KeyedPermutation permutation(size, key_of(5));
    constexpr std::int64_t kPairs = 50'000;
    const auto centred = [&](std::int64_t i) {
      return static_cast<double>(permutation.at(i)) / static_cast<double>(size) - 0.5;
    };
    for (const std::int64_t lag : {1, 2, 256}) {
      double products = 0;
      for (std::int64_t i = 0; i < kPairs; ++i) products += centred(i) * centred(i + lag);
      const double correlation = 12 * products / kPairs;  // 1/12 is the variance of a uniform number
      INFO("size " << size << ", lag " << lag);
      CHECK(std::abs(correlation) < 5 / std::sqrt(static_cast<double>(kPairs)));
    }
  }
}

TEST_CASE("the first values of a large permutation fill all its sixteenths evenly") {
  const KeyedPermutation permutation((std::int64_t{1} << 31) + 11, key_of(9));
  std::vector<std::int64_t> counts(16);
  for (std::int64_t i = 0; i < 64'000; ++i) ++counts[static_cast<std::size_t>(permutation.at(i) * 16 / permutation.size())];
  CHECK(chi_square_sigmas(counts, 15) < 5);
}

TEST_CASE("the permutation is the one that it always was") {
  // A run is resumed on the order it began with: these numbers may change only together with the version of the checkpoints.
  CHECK(all_of(KeyedPermutation(10, 1)) == std::vector<std::int64_t>{1, 9, 4, 2, 8, 6, 3, 5, 0, 7});
  const KeyedPermutation large(1'000'003, 42);
  CHECK(std::vector{large.at(0), large.at(1), large.at(500'000), large.at(1'000'002)} ==
        std::vector<std::int64_t>{543356, 339792, 226806, 865248});
}
