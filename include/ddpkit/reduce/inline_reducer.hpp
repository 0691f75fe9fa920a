#pragma once

#include <span>
#include <string>
#include <vector>

#include "ddpkit/reduce/channels.hpp"
#include "ddpkit/reduce/reducer.hpp"
#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// Reduces each gradient by itself, after backward, in the order of the parameters. Slow and plain: it documents what a Reducer
/// does, and tests hold GradReducer against it.
class InlineReducer final : public Reducer {
 public:
  /// `channels` must outlive the reducer.
  InlineReducer(std::vector<NamedTensor> parameters, Channels channels)
      : parameters_(without_repeats(std::move(parameters))), channels_(channels) {}

  double finish_unscaled(std::span<double> rider) override;
  void remember_backward() override;
  void repeat_backward() override;
  void discard() override {}  // nothing leaves before finish, and gradients lie where zero_grad finds them
  void abandon(std::span<double> rider) override;
  double local_squared_norm() override;
  int given_up() const noexcept override { return given_up_; }
  const ReduceCounters& counters() const noexcept override { return counters_; }
  std::vector<at::Tensor> gradients() const override;
  Channels channels() const noexcept override { return channels_; }

 private:
  void apply_scale(double) override {}  // finish_unscaled leaves the mean
  void reduce_gradients();
  void forget_gradients();
  void exchange(std::span<double> rider, bool abandoned);

  std::vector<NamedTensor> parameters_;
  Channels channels_;
  std::vector<at::Tensor> remembered_;  // gradients of the remembered backward
  ReduceCounters counters_;
  int given_up_ = 0;
};

}  // namespace ddpkit
