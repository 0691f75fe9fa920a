#include "harness/update_traffic.hpp"

#include <algorithm>
#include <array>

#include "harness/add.hpp"

namespace bench {
namespace {

constexpr std::size_t kPiece = 256;  // so short that the processor reads ahead in all streams at once

float* floats_of(const ddpkit::Memory& memory, std::size_t rank) {
  return reinterpret_cast<float*>(memory.parts()[rank]);
}

// Reads and writes all of its arrays once.
[[gnu::target_clones("avx512f", "avx2", "default"), gnu::optimize("O3")]] void move(float* parameter, float* average,
                                                                                    float* square, const float* gradient,
                                                                                    std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    average[i] += gradient[i];
    square[i] += gradient[i];
    parameter[i] += gradient[i];
  }
}

}  // namespace

UpdateTraffic::UpdateTraffic(ddpkit::Communicator& comm, std::size_t bytes)
    : rank_(static_cast<std::size_t>(comm.rank())),
      gradients_(comm.allocate(bytes)),
      parameters_(comm.allocate(bytes)),
      first_(rank_ * bytes / sizeof(float) / gradients_.parts().size()),
      own_(bytes / sizeof(float)),
      average_(own_.size() / gradients_.parts().size()),
      square_(average_.size()) {}

void UpdateTraffic::backward() {
  std::ranges::copy(own_, floats_of(gradients_, rank_));
}

void UpdateTraffic::update() {
  std::array<float, kPiece> sum;
  for (std::size_t at = 0; at < average_.size(); at += kPiece) {
    const std::size_t count = std::min(kPiece, average_.size() - at);
    std::copy_n(floats_of(gradients_, 0) + first_ + at, count, sum.data());
    for (std::size_t other = 1; other < gradients_.parts().size(); ++other)
      add(sum.data(), floats_of(gradients_, other) + first_ + at, count);
    move(floats_of(parameters_, 0) + first_ + at, &average_[at], &square_[at], sum.data(), count);
  }
}

}  // namespace bench
