#pragma once

#include <cstdint>
#include <vector>

namespace ddpkit {

/// The prime powers of a number, by rising prime, and what finding them took.
struct Factorisation {
  struct Power {
    std::int64_t prime = 0;
    int exponent = 0;
  };
  std::vector<Power> powers;
  std::int64_t products = 0;  ///< modular products and trial divisions: a clock that does not depend on the machine
};

/// Of any `number` from 1 to 2^63 - 1, in well under a million products: trial division by small primes, then Pollard's rho in
/// Brent's form with the test of Miller and Rabin, both with fixed starting values.
Factorisation factorise(std::int64_t number);

/// All divisors of `number`, rising: at most 103,680.
std::vector<std::int64_t> divisors(std::int64_t number);

}  // namespace ddpkit
