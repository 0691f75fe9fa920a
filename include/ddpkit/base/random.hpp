#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace ddpkit {

namespace detail {
__extension__ typedef unsigned __int128 Uint128;
}

/// Mixes 64 bits so that every input bit moves every output bit (the finaliser of SplitMix64, Steele et al. 2014).
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// One key out of several numbers, order-sensitive: `random_key({seed, epoch, sample})`. Nothing random depends on history.
constexpr std::uint64_t random_key(std::initializer_list<std::uint64_t> parts) noexcept {
  std::uint64_t key = 0x6a09e667f3bcc909ULL;
  for (const std::uint64_t part : parts) key = mix64(key ^ mix64(part));
  return key;
}

/// A small counter-based generator: the n-th value is a pure function of (key, n). Satisfies UniformRandomBitGenerator.
class CounterRandom {
 public:
  using result_type = std::uint64_t;

  explicit constexpr CounterRandom(std::uint64_t key) noexcept : key_(key) {}

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }

  constexpr result_type operator()() noexcept { return mix64(key_ ^ mix64(counter_++)); }

  /// Uniform in [0, 1) with 53 bits.
  constexpr double uniform() noexcept { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  /// Uniform in [0, bound), without bias that could be measured (128-bit multiply, Lemire 2019).
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<detail::Uint128>((*this)()) * bound) >> 64);
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace ddpkit
