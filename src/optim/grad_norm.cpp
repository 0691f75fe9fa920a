#include "ddpkit/optim/grad_norm.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/_foreach_norm.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kNormBlock = 65536;
constexpr std::int64_t kNormLanes = 16;

// Lanes are written out because a compiler may not reorder additions by itself, and because the order must not depend on how
// wide its vectors are. Squares of float32 and narrower are exact in double, so a fused multiply-add gives the same bits.
template <class T>
double squares_of(const void* data, std::int64_t count) {
  const T* values = static_cast<const T*>(data);
  std::array<double, kNormLanes> lanes{};
  const std::int64_t whole = count - count % kNormLanes;
  for (std::int64_t i = 0; i < whole; i += kNormLanes)
    for (std::int64_t lane = 0; lane < kNormLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  for (std::int64_t i = whole; i < count; ++i) {
    const double value = values[i];
    lanes[i - whole] += value * value;
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

struct NormBlock {
  const std::byte* data;
  std::int64_t count;
  double (*squares)(const void*, std::int64_t);
};

auto squares_function(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return &squares_of<float>;
    case at::kDouble: return &squares_of<double>;
    case at::kHalf: return &squares_of<at::Half>;
    case at::kBFloat16: return &squares_of<at::BFloat16>;
    default: throw UsageError(text("the norm of ", at::toString(type), " gradients is not defined here"));
  }
}

void append_blocks(std::vector<NormBlock>& blocks, const at::Tensor& tensor) {
  const auto squares = squares_function(tensor.scalar_type());
  const auto* data = static_cast<const std::byte*>(tensor.const_data_ptr());
  const auto width = static_cast<std::int64_t>(tensor.element_size());
  for (std::int64_t begin = 0; begin < tensor.numel(); begin += kNormBlock)
    blocks.push_back({data + begin * width, std::min(kNormBlock, tensor.numel() - begin), squares});
}

double host_squares(const std::vector<NormBlock>& blocks) {
  std::vector<double> partial(blocks.size());
  at::parallel_for(0, static_cast<std::int64_t>(blocks.size()), /*grain_size=*/1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) partial[i] = blocks[i].squares(blocks[i].data, blocks[i].count);
  });
  double sum = 0;
  for (const double part : partial) sum += part;
  return sum;
}

double device_squares(const std::vector<at::Tensor>& gradients) {
  double sum = 0;
  if (gradients.empty()) return sum;
  std::vector<at::Tensor> norms = at::_foreach_norm(gradients, 2);
  at::Tensor squares = norms.front().to(at::kDouble).square();
  for (std::size_t i = 1; i < norms.size(); ++i) squares += norms[i].to(squares.options()).square();
  return squares.item<double>();
}

}  // namespace

double global_norm(std::span<const at::Tensor> gradients) {
  std::vector<NormBlock> blocks;
  std::vector<at::Tensor> copies;  // dense ones of gradients with gaps; they must outlive the blocks
  std::vector<at::Tensor> on_device;
  for (const at::Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    if (!gradient.is_cpu()) {
      on_device.push_back(gradient);
    } else if (gradient.is_non_overlapping_and_dense()) {
      append_blocks(blocks, gradient);
    } else {
      append_blocks(blocks, copies.emplace_back(gradient.contiguous()));
    }
  }
  return std::sqrt(host_squares(blocks) + device_squares(on_device));
}

double clip_factor(double norm, double max_norm) {
  return std::min(1.0, max_norm / (norm + 1e-6));
}

double scale_after_clipping(const UpdateContext& context, double norm) {
  return context.clip_norm > 0 ? context.grad_scale * clip_factor(norm, context.clip_norm) : context.grad_scale;
}

bool all_finite(std::span<const at::Tensor> gradients) {
  return std::isfinite(global_norm(gradients));
}

}  // namespace ddpkit
