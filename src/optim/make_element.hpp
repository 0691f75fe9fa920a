#pragma once

#include <cmath>

#include "optim/element_rules.hpp"
#include "optim/update_rule.hpp"

namespace ddpkit {

// The numbers of a rule are made in double and rounded once.

template <class Real>
SgdElement<Real> make_sgd_element(const UpdateRule& rule) {
  return {.grad_scale = static_cast<Real>(rule.grad_scale),
          .weight_decay = static_cast<Real>(rule.weight_decay),
          .lr = static_cast<Real>(rule.lr)};
}

template <class Real>
MomentumElement<Real> make_momentum_element(const UpdateRule& rule) {
  return {.grad_scale = static_cast<Real>(rule.grad_scale),
          .weight_decay = static_cast<Real>(rule.weight_decay),
          .lr = static_cast<Real>(rule.lr),
          .momentum = static_cast<Real>(rule.momentum),
          .gradient_share = static_cast<Real>(rule.gradient_share),
          .slope_in_step = static_cast<Real>(rule.nesterov ? 1 : 0),
          .momentum_in_step = static_cast<Real>(rule.nesterov ? rule.momentum : 1)};
}

template <class Real>
AdamElement<Real> make_adam_element(const UpdateRule& rule) {
  const bool decoupled = rule.kind == OptimizerKind::adamw;
  return {.grad_scale = static_cast<Real>(rule.grad_scale),
          .decay_in_gradient = static_cast<Real>(decoupled ? 0 : rule.weight_decay),
          .kept = static_cast<Real>(decoupled ? 1 - rule.lr * rule.weight_decay : 1),
          .beta1 = static_cast<Real>(rule.beta1),
          .beta2 = static_cast<Real>(rule.beta2),
          .gradient_share1 = static_cast<Real>(1 - rule.beta1),
          .gradient_share2 = static_cast<Real>(1 - rule.beta2),
          .eps = static_cast<Real>(rule.eps),
          .step_size = static_cast<Real>(rule.lr / rule.bias_correction1),
          .root_correction2 = static_cast<Real>(1 / std::sqrt(rule.bias_correction2))};
}

/// Calls `body` with the element functor of the rule.
template <class Real, class Body>
decltype(auto) with_element_rule(const UpdateRule& rule, Body&& body) {
  if (rule.kind != OptimizerKind::sgd) return body(make_adam_element<Real>(rule));
  return rule.momentum == 0 ? body(make_sgd_element<Real>(rule)) : body(make_momentum_element<Real>(rule));
}

}  // namespace ddpkit
