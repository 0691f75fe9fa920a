#pragma once

#include <cstdint>

namespace ddpkit {

/// A permutation of [0, size) chosen by a key and evaluated index by index, in O(1) memory: a Feistel network over pairs
/// (left, right) of a grid a little larger than `size`, walked along its cycle until it lands inside (Black and Rogaway,
/// "Ciphers with Arbitrary Finite Domains", 2002). Pure, cheap to make, thread-safe. `size` up to 2^62.
class KeyedPermutation {
 public:
  KeyedPermutation(std::int64_t size, std::uint64_t key) noexcept;

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(size_); }
  std::int64_t at(std::int64_t index) const noexcept;
  /// The index at which `value` stands: `inverse(at(i)) == i`.
  std::int64_t inverse(std::int64_t value) const noexcept;

 private:
  std::uint64_t forward(std::uint64_t x) const noexcept;
  std::uint64_t backward(std::uint64_t x) const noexcept;
  std::uint64_t shift(int round, std::uint64_t half, std::uint64_t modulus) const noexcept;

  std::uint64_t size_;
  std::uint64_t key_;
  std::uint64_t left_size_;   // even: with two odd sides only even permutations could be reached
  std::uint64_t right_size_;  // left_size_ * right_size_ >= size_
  int rounds_;
};

}  // namespace ddpkit
