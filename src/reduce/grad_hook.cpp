// The only file that touches autograd's internals. A tensor has one slot for a hook that runs after accumulation; unlike a hook
// on its AccumulateGrad node it survives torch::load and changes of type.
#include "reduce/grad_hook.hpp"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace ddpkit {

namespace autograd = torch::autograd;

class GradHook::Slot final : public autograd::PostAccumulateGradHook {
 public:
  Slot(std::shared_ptr<GradReceiver*> receiver, std::size_t index, std::unique_ptr<autograd::PostAccumulateGradHook> before)
      : receiver_(std::move(receiver)), index_(index), before_(std::move(before)) {}

  // Uses the argument: a captured tensor would own itself through its own hook.
  void operator()(const at::Tensor& parameter) override {
    if (before_) (*before_)(parameter);
    if (*receiver_ != nullptr) (*receiver_)->gradient_ready(index_, parameter);
  }

  std::shared_ptr<GradReceiver*> receiver_;
  std::size_t index_;
  std::unique_ptr<autograd::PostAccumulateGradHook> before_;
};

GradHook::GradHook(at::Tensor parameter, GradReceiver& receiver, std::size_t index)
    : receiver_(std::make_shared<GradReceiver*>(&receiver)), parameter_(std::move(parameter)) {
  autograd::impl::materialize_autograd_meta(parameter_);  // a tensor that never asked for a gradient has no place for hooks
  auto before = std::move(autograd::impl::post_acc_grad_hooks(parameter_));
  autograd::impl::set_post_acc_grad_hooks(parameter_, std::make_unique<Slot>(receiver_, index, std::move(before)));
}

GradHook::~GradHook() {
  if (!receiver_) return;  // moved from
  *receiver_ = nullptr;
  auto& slot = autograd::impl::post_acc_grad_hooks(parameter_);
  auto* mine = dynamic_cast<Slot*>(slot.get());
  const bool still_on_top = mine != nullptr && mine->receiver_ == receiver_;
  if (still_on_top) slot = std::move(mine->before_);
}

}  // namespace ddpkit
