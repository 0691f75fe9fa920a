// The only file that touches autograd's internals. A tensor has one slot for a hook that runs after accumulation; unlike a hook
// on its AccumulateGrad node it survives torch::load and changes of type.
#include "reduce/grad_hook.hpp"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace ddpkit {

namespace autograd = torch::autograd;

class GradHook::Slot final : public autograd::PostAccumulateGradHook {
 public:
  Slot(std::shared_ptr<std::function<void(const at::Tensor&)>> ready, std::unique_ptr<autograd::PostAccumulateGradHook> before)
      : ready_(std::move(ready)), before_(std::move(before)) {}

  // Uses the argument: a captured tensor would own itself through its own hook.
  void operator()(const at::Tensor& parameter) override {
    if (before_) (*before_)(parameter);
    if (*ready_) (*ready_)(parameter);
  }

  std::shared_ptr<std::function<void(const at::Tensor&)>> ready_;
  std::unique_ptr<autograd::PostAccumulateGradHook> before_;
};

GradHook::GradHook(at::Tensor parameter, std::function<void(const at::Tensor&)> ready)
    : ready_(std::make_shared<std::function<void(const at::Tensor&)>>(std::move(ready))), parameter_(std::move(parameter)) {
  autograd::impl::materialize_autograd_meta(parameter_);  // a tensor that never asked for a gradient has no place for hooks
  auto before = std::move(autograd::impl::post_acc_grad_hooks(parameter_));
  autograd::impl::set_post_acc_grad_hooks(parameter_, std::make_unique<Slot>(ready_, std::move(before)));
}

GradHook::~GradHook() {
  if (!ready_) return;  // moved from
  *ready_ = nullptr;
  auto& slot = autograd::impl::post_acc_grad_hooks(parameter_);
  auto* mine = dynamic_cast<Slot*>(slot.get());
  const bool still_on_top = mine != nullptr && mine->ready_ == ready_;
  if (still_on_top) slot = std::move(mine->before_);
}

}  // namespace ddpkit
