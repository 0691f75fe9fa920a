#include "ddpkit/reduce/inline_reducer.hpp"

#include <ATen/ops/zeros_like.h>

#include "ddpkit/comm/agree.hpp"
#include "ddpkit/tensor/as_buffer.hpp"
#include "reduce/squared_norm.hpp"

namespace ddpkit {

double InlineReducer::finish_unscaled(std::span<double> rider) {
  for (const NamedTensor& parameter : parameters_) {
    at::Tensor& gradient = parameter.tensor.mutable_grad();
    if (!agree_any(channels_.control, gradient.defined(), parameter.name)) continue;
    if (!gradient.defined()) gradient = at::zeros_like(parameter.tensor);
    channels_.data.all_reduce(as_buffer(gradient), ReduceOp::mean, parameter.name).wait();
    ++counters_.collectives;
    counters_.bytes += static_cast<std::int64_t>(gradient.nbytes());
  }
  exchange_rider(rider);
  return 1;
}

void InlineReducer::abandon(std::span<double> rider) {
  for (const NamedTensor& parameter : parameters_) parameter.tensor.mutable_grad().reset();
  finish_unscaled(rider);
  for (const NamedTensor& parameter : parameters_) parameter.tensor.mutable_grad().reset();
}

double InlineReducer::local_squared_norm() {
  double sum = 0;
  for (const at::Tensor& gradient : gradients()) sum += squared_norm(gradient.contiguous()).item<double>();
  return sum;
}

std::vector<at::Tensor> InlineReducer::gradients() const {
  std::vector<at::Tensor> gradients;
  for (const NamedTensor& parameter : parameters_)
    if (parameter.tensor.grad().defined()) gradients.push_back(parameter.tensor.grad());
  return gradients;
}

void InlineReducer::exchange_rider(std::span<double> rider) {
  ++counters_.windows;
  if (!rider.empty()) channels_.control.all_reduce(rider, ReduceOp::sum, "window record").wait();
}

}  // namespace ddpkit
