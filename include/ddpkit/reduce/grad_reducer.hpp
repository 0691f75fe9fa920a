#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/reduce/bucket_plan.hpp"
#include "ddpkit/reduce/bucket_transport.hpp"
#include "ddpkit/reduce/channels.hpp"
#include "ddpkit/reduce/reducer.hpp"
#include "ddpkit/reduce/reducer_options.hpp"
#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// Whether a reducer remembers when gradients become ready.
enum class Readiness { ignored, recorded };

/// Reduces gradients bucket by bucket while backward runs.
///
/// A hook on each parameter moves its gradient into the parameter's slot of a bucket as soon as backward has made it, and
/// sends buckets, strictly in the order of the plan, as they fill. After `finish` each `.grad` is a view of its slot. Gradients
/// may be cleared in either way between windows, or left to add up. A rank that is alone has no buckets, copies nothing and
/// issues nothing: gradients stay where backward left them.
///
/// Parameters that are frozen when the reducer is made cost nothing; when `requires_grad` of any changes, the next `finish`
/// notices on all ranks together, reduces the newcomers too, and makes a new plan. A parameter that only some ranks used gets
/// zeros from the others; one that no rank used in the window has an undefined gradient. Sparse gradients are refused by name.
///
/// Under Delivery::as_is nothing is sent but the record of the window: `finish` leaves every `.grad` undefined and the
/// gradients of all ranks in their buckets, where `kept` finds them until the next backward of any rank.
class GradReducer final : public Reducer {
 public:
  /// Collective: checks that names, shapes, types and order of the parameters and the options are equal on all ranks, and
  /// throws CommError (ExitStatus::disagree) on all ranks where they are not. `channels` must outlive the reducer. A tensor
  /// that comes under several names is reduced once.
  GradReducer(std::vector<NamedTensor> parameters, Channels channels, const ReducerOptions& options = {});

  /// From a LibTorch dictionary: `GradReducer reducer(model->named_parameters(), comm);`
  template <class Dict>
  requires requires(const Dict& dict) { dict.begin()->key(); }
  GradReducer(const Dict& named_parameters, Channels channels, const ReducerOptions& options = {})
      : GradReducer(named_tensors(named_parameters), channels, options) {}

  ~GradReducer() override;

  double finish_unscaled(std::span<double> rider) override;
  void remember_backward() override;
  void repeat_backward() override;
  void discard() override;
  void abandon(std::span<double> rider) override;
  double local_squared_norm() override;
  int given_up() const noexcept override;
  const ReduceCounters& counters() const noexcept override;
  std::vector<at::Tensor> gradients() const override;
  Channels channels() const noexcept override;

  const BucketPlan& plan() const noexcept;

  /// What it reduces, in the order given, without repeats.
  std::vector<NamedTensor> parameters() const;

  /// As asked for in the options, but `reduced` where the ranks do not all share the memory of the buckets. Equal on all ranks;
  /// may change where `plans` does.
  Delivery delivery() const noexcept;

  /// How many bucket plans there were: one more each time when parameters have been frozen or unfrozen, or by set_plan.
  int plans() const noexcept;

  /// Under Delivery::as_is: where the ranks have their gradients of parameter `index`, in rank order, after `finish`. Empty
  /// when no rank used it.
  std::span<const std::byte* const> kept(std::size_t index) const noexcept;

  /// What turns them into one: `sum`, to be scaled by what finish_unscaled returned, or `mean`.
  ReduceOp kept_op() const noexcept;

  /// Sum over ranks of the squared norms of their own gradients in the last window: where it is finite, in float32, so is every
  /// gradient. NaN where it is not known.
  double kept_squared_norms() const noexcept;

  /// What the plan is about: the trainable parameters, in their order.
  std::vector<GradientSpec> gradient_specs() const;

  /// Another plan of the same gradients, from the next window on. Collective, equal on all ranks, between two windows:
  /// gradients that were handed over stay valid. When the trainable parameters change it gives way to one by size.
  void set_plan(const BucketPlan& plan);

  /// When a gradient was where it can be sent from, on this rank.
  using Moment = std::chrono::steady_clock::time_point;

  /// From the next window on. Off, it costs nothing; on a GPU, recording waits for the device at each gradient.
  void record_readiness(Readiness readiness);

  /// Of the last window's sending backward, by gradient of the plan; Moment() for one that did not come. While recorded.
  std::vector<Moment> ready_moments() const;

  /// Names of the parameters that no rank used in the last window.
  std::vector<std::string> unused() const;

 private:
  void apply_scale(double scale) override;

  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace ddpkit
