#include "batch/divisors.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr std::int64_t kLargest = 9'223'372'036'854'775'807;

std::int64_t product_of(const Factorisation& factors) {
  std::int64_t product = 1;
  for (const auto& [prime, exponent] : factors.powers)
    for (int i = 0; i < exponent; ++i) product *= prime;
  return product;
}

// Squares of primes, products of two primes of equal length, primes, and numbers with as many divisors as there can be.
const std::int64_t kHard[] = {kLargest,
                              9'223'372'036'854'775'783,  // the largest prime
                              4'611'686'018'427'387'847,  // the largest prime below 2^62
                              std::int64_t{1} << 62,
                              3'037'000'493 * 3'037'000'453,  // the two largest primes whose product fits
                              3'037'000'493 * 3'037'000'493,
                              2'147'483'647 * 4'294'967'291,
                              2'097'143LL * 2'097'143 * 2'097'143,
                              3'215'031'751,               // a strong pseudoprime to 2, 3, 5 and 7
                              3'825'123'056'546'413'051,   // and to the first nine primes
                              897'612'484'786'617'600,     // 103,680 divisors
                              4'611'686'014'132'420'609};  // 2147483647 squared

}  // namespace

TEST_CASE("divisors are those that trial division finds") {
  for (std::int64_t n = 1; n <= 3000; ++n) {
    std::vector<std::int64_t> expected;
    for (std::int64_t d = 1; d <= n; ++d)
      if (n % d == 0) expected.push_back(d);
    REQUIRE(divisors(n) == expected);
  }
}

TEST_CASE("a number with the most divisors there can be has them all") {
  const std::vector<std::int64_t> all = divisors(897'612'484'786'617'600);
  CHECK(all.size() == 103'680);
  CHECK(std::ranges::adjacent_find(all, std::greater_equal()) == all.end());
  CHECK(std::ranges::all_of(all, [](std::int64_t d) { return 897'612'484'786'617'600 % d == 0; }));
}

TEST_CASE("prime powers multiply to the number and the primes cannot be divided") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(random() >> (1 + i % 62)) % kLargest;
    const Factorisation factors = factorise(n);
    REQUIRE(product_of(factors) == n);
    for (const auto& [prime, exponent] : factors.powers)
      for (std::int64_t d = 2; d < 1000 && d < prime; ++d) REQUIRE(prime % d != 0);
  }
}

TEST_CASE("the hardest numbers take less than a million products") {
  for (const std::int64_t n : kHard) {
    const Factorisation factors = factorise(n);
    CAPTURE(n, factors.products);
    CHECK(product_of(factors) == n);
    CHECK(factors.products < 1'000'000);
  }
}

TEST_CASE("two primes of equal length are found apart") {
  const Factorisation factors = factorise(3'037'000'493 * 3'037'000'453);
  REQUIRE(factors.powers.size() == 2);
  CHECK(factors.powers[0].prime == 3'037'000'453);
  CHECK(factorise(3'037'000'493 * 3'037'000'493).powers[0].exponent == 2);
  CHECK(factorise(9'223'372'036'854'775'783).powers.size() == 1);
  CHECK(factorise(3'825'123'056'546'413'051).powers.size() > 1);
}
