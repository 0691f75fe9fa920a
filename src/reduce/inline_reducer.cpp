#include "ddpkit/reduce/inline_reducer.hpp"

#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "ddpkit/comm/agree.hpp"
#include "ddpkit/tensor/as_buffer.hpp"
#include "reduce/squared_norm.hpp"

namespace ddpkit {

double InlineReducer::finish_unscaled(std::span<double> rider) {
  exchange(rider, /*abandoned=*/false);
  if (given_up_ == 0)
    reduce_gradients();
  else
    forget_gradients();
  return 1;
}

void InlineReducer::remember_backward() {
  remembered_.clear();
  for (const NamedTensor& parameter : parameters_) remembered_.push_back(parameter.tensor.grad());
}

void InlineReducer::repeat_backward() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].tensor.mutable_grad() = remembered_[i];
}

void InlineReducer::abandon(std::span<double> rider) {
  exchange(rider, /*abandoned=*/true);
  forget_gradients();
}

void InlineReducer::reduce_gradients() {
  for (const NamedTensor& parameter : parameters_) {
    at::Tensor& gradient = parameter.tensor.mutable_grad();
    if (!agree_any(channels_.control, gradient.defined(), parameter.name)) continue;
    if (!gradient.defined()) gradient = at::zeros_like(parameter.tensor);
    channels_.data.all_reduce(as_buffer(gradient), ReduceOp::mean, parameter.name).wait();
    ++counters_.collectives;
    counters_.bytes += static_cast<std::int64_t>(gradient.nbytes());
  }
}

void InlineReducer::forget_gradients() {
  for (const NamedTensor& parameter : parameters_) parameter.tensor.mutable_grad().reset();
}

double InlineReducer::local_squared_norm() {
  double sum = 0;
  for (const at::Tensor& gradient : gradients()) {
    const SquaredNorm norm = squared_norm(gradient.contiguous());
    sum += norm.device.defined() ? norm.device.item<double>() : norm.host;
  }
  return sum;
}

std::vector<at::Tensor> InlineReducer::gradients() const {
  std::vector<at::Tensor> gradients;
  for (const NamedTensor& parameter : parameters_)
    if (parameter.tensor.grad().defined()) gradients.push_back(parameter.tensor.grad());
  return gradients;
}

// Before the gradients: what a rank has given up is not worth reducing.
void InlineReducer::exchange(std::span<double> rider, bool abandoned) {
  ++counters_.windows;
  std::vector<double> record(rider.begin(), rider.end());
  record.push_back(abandoned ? 1 : 0);
  channels_.control.all_reduce(std::span<double>(record), ReduceOp::sum, "window record").wait();
  std::copy_n(record.begin(), rider.size(), rider.begin());
  given_up_ = static_cast<int>(record.back());
}

}  // namespace ddpkit
