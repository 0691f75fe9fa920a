#pragma once

// What each optimizer does to one element: the same code in the loops of the host and in the kernels of the device. Seen by the
// CUDA compiler: C++17 only. Every operation is rounded by itself (no fused multiply-add, no fast-math), so that the result is
// the same to the bit in every loop.

#include <cmath>

#include "base/host_device.hpp"

namespace ddpkit {

/// SGD without momentum. `Real`: double for float64, float for all narrower types.
template <class Real>
struct SgdElement {
  static constexpr int kMoments = 0;

  Real grad_scale;
  Real weight_decay;
  Real lr;

  DDPKIT_HOST_DEVICE void operator()(Real& parameter, Real gradient, Real&, Real&) const {
    parameter -= lr * (gradient * grad_scale + weight_decay * parameter);
  }
};

/// SGD with momentum, after Sutskever et al. 2013 in the form of torch::optim::SGD.
template <class Real>
struct MomentumElement {
  static constexpr int kMoments = 1;

  Real grad_scale;
  Real weight_decay;
  Real lr;
  Real momentum;
  Real gradient_share;    ///< of the gradient in the momentum
  Real slope_in_step;     ///< 1 with Nesterov's momentum, else 0
  Real momentum_in_step;  ///< `momentum` with Nesterov's, else 1

  DDPKIT_HOST_DEVICE void operator()(Real& parameter, Real gradient, Real& buffer, Real&) const {
    const Real slope = gradient * grad_scale + weight_decay * parameter;
    buffer = momentum * buffer + gradient_share * slope;
    parameter -= lr * (slope_in_step * slope + momentum_in_step * buffer);
  }
};

/// Adam (Kingma and Ba 2015, algorithm 1 with the corrections drawn into the step) and AdamW (Loshchilov and Hutter 2019,
/// algorithm 2): they differ in where weight decay acts.
template <class Real>
struct AdamElement {
  static constexpr int kMoments = 2;

  Real grad_scale;
  Real decay_in_gradient;  ///< Adam: weight decay, else 0
  Real kept;               ///< AdamW: of the parameter after its decay, else 1
  Real beta1;
  Real beta2;
  Real gradient_share1;  ///< 1 - beta1
  Real gradient_share2;  ///< 1 - beta2
  Real eps;
  Real step_size;         ///< lr / (1 - beta1^t)
  Real root_correction2;  ///< 1 / sqrt(1 - beta2^t)

  DDPKIT_HOST_DEVICE void operator()(Real& parameter, Real gradient, Real& mean, Real& square) const {
    const Real slope = gradient * grad_scale + decay_in_gradient * parameter;
    mean = beta1 * mean + gradient_share1 * slope;
    square = beta2 * square + gradient_share2 * (slope * slope);
    parameter = parameter * kept - step_size * mean / (std::sqrt(square) * root_correction2 + eps);
  }
};

}  // namespace ddpkit
