#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// The sum of squares of tensors as block_squares.hpp lays it down, on as many threads as LibTorch has. Takes nothing from the
/// heap for host memory without gaps. CUDA tensors are summed by LibTorch's operators, in its order.
class NormSum {
 public:
  /// The tensor's elements must stay until sum(). float32, float64, float16 and bfloat16; UsageError for others.
  void add(const at::Tensor& tensor);

  /// Of all that was added. The host waits for CUDA tensors.
  double sum();

 private:
  struct Block {
    const std::byte* data;
    std::int64_t count;
    DType dtype;
  };
  void add_host(const at::Tensor& dense);
  void square_blocks();

  std::array<Block, 256> blocks_;  // enough at a time for many threads
  std::size_t pending_ = 0;
  double host_ = 0;
  std::vector<at::Tensor> on_device_;
};

}  // namespace ddpkit
