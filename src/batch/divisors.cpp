#include "batch/divisors.hpp"

#include <algorithm>
#include <numeric>

namespace ddpkit {
namespace {

using Number = std::uint64_t;
__extension__ using Wide = unsigned __int128;

/// Finds the primes of one number, with multiplicity, and counts what it does.
class Splitter {
 public:
  std::vector<Number> primes;
  std::int64_t products = 0;

  void split(Number n) {
    if (n == 1) return;
    if (is_prime(n)) return primes.push_back(n);
    const Number divisor = find_divisor(n);
    split(divisor);
    split(n / divisor);
  }

  /// Takes the small primes out of `n` and returns what is left.
  Number divide_out_small(Number n) {
    for (Number p = 2; p < 256 && p * p <= n; ++p, ++products)
      for (; n % p == 0; n /= p) primes.push_back(p);
    return n;
  }

 private:
  Number multiply(Number a, Number b, Number n) {
    ++products;
    return static_cast<Number>(static_cast<Wide>(a) * b % n);
  }

  Number power(Number base, Number exponent, Number n) {
    Number result = 1;
    for (; exponent > 0; exponent /= 2) {
      if (exponent % 2 == 1) result = multiply(result, base, n);
      base = multiply(base, base, n);
    }
    return result;
  }

  // Whether `base` proves the odd number n = odd x 2^twos + 1 to be composite.
  bool is_witness(Number base, Number odd, int twos, Number n) {
    Number x = power(base, odd, n);
    if (x == 1 || x == n - 1) return false;
    for (int i = 1; i < twos; ++i) {
      x = multiply(x, x, n);
      if (x == n - 1) return false;
    }
    return true;
  }

  // The first twelve primes as bases decide every number below 3.3e24 (Sorenson and Webster 2015).
  bool is_prime(Number n) {
    if (n < 256 * 256) return true;  // its primes below 256 were divided out before
    Number odd = n - 1;
    int twos = 0;
    for (; odd % 2 == 0; odd /= 2) ++twos;
    for (const Number base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37})
      if (is_witness(base, odd, twos, n)) return false;
    return true;
  }

  Number find_divisor(Number n) {
    for (Number shift = 1;; ++shift)
      if (const Number divisor = rho(n, shift); divisor != n) return divisor;
  }

  // x -> x^2 + shift runs into a cycle modulo a prime of n long before it does modulo n. Differences are collected in products
  // of 64, so that one gcd serves them all.
  Number rho(Number n, Number shift) {
    constexpr Number kBatch = 64;
    const auto next = [&](Number x) { return (multiply(x, x, n) + shift) % n; };
    Number ahead = 2;
    for (Number length = 1;; length *= 2) {
      const Number anchor = ahead;
      for (Number done = 0; done < length; done += kBatch) {
        const Number start = ahead;
        const Number count = std::min(kBatch, length - done);
        Number product = 1;
        for (Number i = 0; i < count; ++i) {
          ahead = next(ahead);
          product = multiply(product, ahead > anchor ? ahead - anchor : anchor - ahead, n);
        }
        const Number common = std::gcd(product, n);
        if (common == n) return step_by_step(n, shift, start, anchor);
        if (common != 1) return common;
      }
    }
  }

  // Several primes were met within one batch: go through it again, one difference at a time.
  Number step_by_step(Number n, Number shift, Number ahead, Number anchor) {
    for (;;) {
      ahead = (multiply(ahead, ahead, n) + shift) % n;
      const Number common = std::gcd(ahead > anchor ? ahead - anchor : anchor - ahead, n);
      if (common != 1) return common;
    }
  }
};

}  // namespace

Factorisation factorise(std::int64_t number) {
  Splitter splitter;
  splitter.split(splitter.divide_out_small(static_cast<Number>(number)));
  std::ranges::sort(splitter.primes);
  Factorisation result{.powers = {}, .products = splitter.products};
  for (const Number prime : splitter.primes) {
    if (result.powers.empty() || result.powers.back().prime != static_cast<std::int64_t>(prime))
      result.powers.push_back({.prime = static_cast<std::int64_t>(prime), .exponent = 0});
    ++result.powers.back().exponent;
  }
  return result;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> all{1};
  for (const auto& [prime, exponent] : factorise(number).powers) {
    const std::size_t before = all.size();
    std::int64_t power = 1;
    for (int i = 0; i < exponent; ++i) {
      power *= prime;
      for (std::size_t d = 0; d < before; ++d) all.push_back(all[d] * power);
    }
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace ddpkit
