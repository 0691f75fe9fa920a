#include "optim/narrow_sgd.hpp"

#include <ATen/Parallel.h>

#include <cstdint>

namespace ddpkit {
namespace {

constexpr std::int64_t kNarrowGrain = 32768;

template <class T>
void narrow_sgd_range(T* parameter, const T* gradient, T* buffer, std::int64_t count, const SgdRule& rule) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = parameter[i];
    float slope = static_cast<float>(gradient[i]) * rule.grad_scale + rule.weight_decay * value;
    if (buffer) {
      const float momentum = rule.momentum * static_cast<float>(buffer[i]) + rule.gradient_share * slope;
      buffer[i] = momentum;
      slope = rule.nesterov ? slope + rule.momentum * momentum : momentum;
    }
    parameter[i] = value - rule.lr * slope;
  }
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
