#include "optim/norm_sum.hpp"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <tuple>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/tensor/as_buffer.hpp"
#include "optim/block_squares.hpp"
#include "tensor/in_parallel.hpp"

namespace ddpkit {
namespace {

double device_squares(const std::vector<at::Tensor>& tensors) {
  const auto is_double = [](const at::Tensor& tensor) { return tensor.scalar_type() == at::kDouble; };
  const at::ScalarType wide = std::ranges::any_of(tensors, is_double) ? at::kDouble : at::kFloat;
  std::vector<at::Tensor> norms = at::_foreach_norm(tensors, 2, wide);
  for (at::Tensor& norm : norms) norm = norm.to(norms.front().device());
  return at::stack(norms).to(at::kDouble).square().sum().item<double>();  // a few launches, however many tensors there are
}

}  // namespace

void NormSum::add(const at::Tensor& tensor) {
  if (!at::isFloatingType(tensor.scalar_type()))
    throw UsageError(text("the norm of ", at::toString(tensor.scalar_type()), " gradients is not defined here"));
  if (!tensor.is_cpu()) {
    on_device_.push_back(tensor);
  } else if (tensor.is_non_overlapping_and_dense()) {
    add_host(tensor);
  } else {
    const at::Tensor copy = tensor.contiguous();
    add_host(copy);
    square_blocks();  // while there is the copy
  }
}

void NormSum::add_host(const at::Tensor& dense) {
  const DType dtype = dtype_of_tensor(dense);
  const auto* data = static_cast<const std::byte*>(dense.const_data_ptr());
  const auto width = static_cast<std::int64_t>(size_of(dtype));
  for (std::int64_t begin = 0; begin < dense.numel(); begin += kNormBlock) {
    if (pending_ == blocks_.size()) square_blocks();
    blocks_[pending_++] = {data + begin * width, std::min(kNormBlock, dense.numel() - begin), dtype};
  }
}

void NormSum::square_blocks() {
  std::array<double, std::tuple_size_v<decltype(blocks_)>> partial;
  in_parallel(static_cast<std::int64_t>(pending_), /*grain=*/2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      BlockSquares squares;
      squares.add(blocks_[i].data, blocks_[i].dtype, blocks_[i].count);
      partial[i] = squares.sum();
    }
  });
  for (std::size_t i = 0; i < pending_; ++i) host_ += partial[i];
  pending_ = 0;
}

double NormSum::sum() {
  square_blocks();
  return on_device_.empty() ? host_ : host_ + device_squares(on_device_);
}

}  // namespace ddpkit
