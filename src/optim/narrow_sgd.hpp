#pragma once

#include <ATen/core/Tensor.h>

namespace ddpkit {

/// The numbers of one SGD update.
struct SgdRule {
  float lr = 0;
  float weight_decay = 0;
  float momentum = 0;
  float gradient_share = 1;  ///< 1 - dampening, 1 in a first update, where the buffer holds zeros
  bool nesterov = false;
  float grad_scale = 1;
};

/// SGD on a float16 or bfloat16 parameter in CPU memory, computed in float32. `buffer` is undefined without momentum. All three
/// have the same type and memory order.
/// Here because LibTorch 2.11's own kernel for these types (at::_fused_sgd_ on CPU) leaves elements of every full vector
/// without update and their momentum uninitialised: half of them or all, by processor.
void narrow_sgd(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& buffer, const SgdRule& rule);

}  // namespace ddpkit
