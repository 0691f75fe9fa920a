#include "comm/nccl/patience.hpp"

#include <algorithm>
#include <thread>

namespace ddpkit::nccl {
namespace {
constexpr int kShortPauses = 256;  // most collectives are over by then
}  // namespace

bool Patience::pause() {
  if (std::chrono::steady_clock::now() >= end_) return false;
  if (++pauses_ <= kShortPauses)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(longest_pause_);
  return true;
}

std::chrono::milliseconds Patience::left() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

}  // namespace ddpkit::nccl
