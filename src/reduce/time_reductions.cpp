#include "ddpkit/reduce/time_reductions.hpp"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "ddpkit/tensor/as_buffer.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kSmallestBytes = 16 << 10;
constexpr std::size_t kGrowth = 4;

double seconds_of(const Channels& channels, const Buffer& data, const Clock& clock) {
  channels.control.barrier();
  const auto start = clock.now();
  channels.data.all_reduce(data, ReduceOp::sum, "timing a reduction").synchronize();
  return std::chrono::duration<double>(clock.now() - start).count();
}

/// Of this rank. The first one wakes memory and network up.
double median_seconds(const Channels& channels, const Buffer& data, const Clock& clock) {
  seconds_of(channels, data, clock);
  std::array<double, 5> seconds{};
  for (double& each : seconds) each = seconds_of(channels, data, clock);
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

double of_the_slowest(Communicator& ranks, double seconds) {
  ranks.all_reduce(std::span(&seconds, 1), ReduceOp::max, "the slowest rank").synchronize();
  return seconds;
}

}  // namespace

std::vector<TimedReduction> time_reductions(Channels channels, const ReductionTrial& trial) {
  const std::size_t room = std::max(trial.largest_bytes / sizeof(float), std::size_t{1}) * sizeof(float);
  const Memory memory = channels.data.allocate(room);
  tensor_in(memory, 0, static_cast<std::int64_t>(room / sizeof(float)), DType::float32).zero_();
  std::vector<TimedReduction> points;
  for (std::size_t bytes = std::min(kSmallestBytes, room);; bytes = std::min(bytes * kGrowth, room)) {
    const at::Tensor part = tensor_in(memory, 0, static_cast<std::int64_t>(bytes / sizeof(float)), DType::float32);
    const double seconds = of_the_slowest(channels.control, median_seconds(channels, as_buffer(part, memory), trial.clock));
    points.push_back({static_cast<double>(bytes), std::max(seconds, 1e-9)});
    if (bytes == room || seconds > trial.patience_seconds) return points;
  }
}

}  // namespace ddpkit
