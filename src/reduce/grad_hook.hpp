#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

namespace ddpkit {

/// Calls `ready(parameter)` after each backward that reached the parameter, once its `.grad` holds the sum of all uses, on the
/// thread that runs backward. Not called for unused or frozen parameters, nor by autograd::grad. Removing the hook is what the
/// destructor does; a hook that was there before is kept and called first.
class GradHook {
 public:
  GradHook(at::Tensor parameter, std::function<void(const at::Tensor&)> ready);
  ~GradHook();
  GradHook(GradHook&& other) noexcept = default;
  GradHook& operator=(GradHook&&) = delete;

 private:
  class Slot;
  std::shared_ptr<std::function<void(const at::Tensor&)>> ready_;  // emptied when the hook is removed
  at::Tensor parameter_;
};

}  // namespace ddpkit
