#include "harness/handshake.hpp"

#include <algorithm>

#include "harness/add.hpp"

namespace bench {
namespace {

constexpr std::size_t kLine = 128;  // two cache lines, which processors fetch as one

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace

std::size_t Handshake::bytes_for(std::size_t count) {
  return 2 * rounded_up(count * sizeof(float)) + kLine;
}

Handshake::Handshake(ddpkit::Memory memory, int rank, std::size_t count)
    : memory_(std::move(memory)), rank_(static_cast<std::size_t>(rank)), numbers_(count) {
  flag_of(rank_).store(0);
}

float* Handshake::place_of(std::size_t rank) const {
  const std::size_t offset = kLine + epoch_ % 2 * rounded_up(numbers_.size() * sizeof(float));
  return reinterpret_cast<float*>(memory_.parts()[rank] + offset);
}

std::atomic<unsigned>& Handshake::flag_of(std::size_t rank) const {
  return *reinterpret_cast<std::atomic<unsigned>*>(memory_.parts()[rank]);
}

void Handshake::sum() {
  ++epoch_;
  std::ranges::copy(numbers_, place_of(rank_));
  flag_of(rank_).store(epoch_, std::memory_order_release);
  for (std::size_t other = 0; other < memory_.parts().size(); ++other) {
    if (other == rank_) continue;
    while (flag_of(other).load(std::memory_order_acquire) < epoch_) {
    }
    add(numbers_.data(), place_of(other), numbers_.size());
  }
}

}  // namespace bench
