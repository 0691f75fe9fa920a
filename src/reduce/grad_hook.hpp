#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>

namespace ddpkit {

/// Who hears of gradients.
class GradReceiver {
 public:
  /// A backward has left a gradient in parameter number `index`: the sum of all its uses.
  virtual void gradient_ready(std::size_t index, const at::Tensor& parameter) = 0;

 protected:
  ~GradReceiver() = default;
};

/// Calls `receiver` after each backward that reached the parameter, once its `.grad` holds the sum of all uses, on the thread
/// that runs backward. Not called for unused or frozen parameters, nor by autograd::grad. Removing the hook is what the
/// destructor does; a hook that was there before is kept and called first.
class GradHook {
 public:
  /// `receiver` must outlive the hook. It is told `index`.
  GradHook(at::Tensor parameter, GradReceiver& receiver, std::size_t index);
  ~GradHook();
  GradHook(GradHook&& other) noexcept = default;
  GradHook& operator=(GradHook&&) = delete;

 private:
  class Slot;
  std::shared_ptr<GradReceiver*> receiver_;  // null inside when the hook is removed
  at::Tensor parameter_;
};

}  // namespace ddpkit
