#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "ddpkit/comm/memory.hpp"

namespace bench {

/// The least that a sum over ranks in shared memory has to do: put the own numbers there, tell so, wait for the others, add.
/// Two places in turn, since nobody who has come to the next sum still reads the last but one. No check, no time limit, no
/// other work.
class Handshake {
 public:
  /// So much memory it wants from Communicator::allocate, for `count` floats.
  static std::size_t bytes_for(std::size_t count);

  Handshake(ddpkit::Memory memory, int rank, std::size_t count);

  void sum();

 private:
  float* place_of(std::size_t rank) const;
  std::atomic<unsigned>& flag_of(std::size_t rank) const;

  ddpkit::Memory memory_;
  std::size_t rank_;
  std::vector<float> numbers_;
  unsigned epoch_ = 0;
};

}  // namespace bench
