#include "optim/narrow_sgd.hpp"

#include <ATen/Parallel.h>

#include <array>
#include <cstdint>

namespace ddpkit {
namespace {

constexpr std::int64_t kNarrowGrain = 32768;

constexpr std::int64_t kNarrowLanes = 16;

// A fixed number of elements at a time, one simple loop after the other: so the compiler turns the conversions into vectors.
template <std::int64_t kCount, class T>
void update_lanes(T* parameter, const T* gradient, T* buffer, const SgdRule rule) {
  std::array<float, kCount> values, slopes;
  for (std::int64_t i = 0; i < kCount; ++i) {
    values[i] = parameter[i];
    slopes[i] = static_cast<float>(gradient[i]) * rule.grad_scale + rule.weight_decay * values[i];
  }
  if (buffer) {
    std::array<float, kCount> momenta;
    for (std::int64_t i = 0; i < kCount; ++i) {
      momenta[i] = rule.momentum * static_cast<float>(buffer[i]) + rule.gradient_share * slopes[i];
      buffer[i] = momenta[i];
    }
    if (rule.nesterov) {
      for (std::int64_t i = 0; i < kCount; ++i) slopes[i] += rule.momentum * momenta[i];
    } else {
      slopes = momenta;
    }
  }
  for (std::int64_t i = 0; i < kCount; ++i) parameter[i] = values[i] - rule.lr * slopes[i];
}

template <class T>
void narrow_sgd_range(T* parameter, const T* gradient, T* buffer, std::int64_t count, const SgdRule& rule) {
  const auto buffer_at = [buffer](std::int64_t i) { return buffer ? buffer + i : nullptr; };
  std::int64_t i = 0;
  for (; i + kNarrowLanes <= count; i += kNarrowLanes)
    update_lanes<kNarrowLanes>(parameter + i, gradient + i, buffer_at(i), rule);
  for (; i < count; ++i) update_lanes<1>(parameter + i, gradient + i, buffer_at(i), rule);
}

template <class T>
void narrow_sgd_of(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& buffer, const SgdRule& rule) {
  T* const values = parameter.mutable_data_ptr<T>();
  const T* const slopes = gradient.const_data_ptr<T>();
  T* const momenta = buffer.defined() ? buffer.mutable_data_ptr<T>() : nullptr;
  at::parallel_for(0, parameter.numel(), kNarrowGrain, [&](std::int64_t begin, std::int64_t end) {
    narrow_sgd_range(values + begin, slopes + begin, momenta ? momenta + begin : nullptr, end - begin, rule);
  });
}

}  // namespace

void narrow_sgd(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& buffer, const SgdRule& rule) {
  if (parameter.scalar_type() == at::kHalf)
    narrow_sgd_of<at::Half>(parameter, gradient, buffer, rule);
  else
    narrow_sgd_of<at::BFloat16>(parameter, gradient, buffer, rule);
}

}  // namespace ddpkit
