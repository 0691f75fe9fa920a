#include "ddpkit/train/savings.hpp"

#include <optional>

#include "ddpkit/tensor/autocast.hpp"
#include "ddpkit/tensor/recompute.hpp"

namespace ddpkit {

Savings savings_at_start(const MemoryOptions& options) {
  return {.bf16 = options.bf16 == Saving::always, .recompute = options.recompute == Saving::always};
}

LossFunction with_savings(LossFunction loss, const Savings& savings, c10::DeviceType device) {
  return [loss = std::move(loss), &savings, device](const Batch& batch) -> Loss {
    std::optional<AutocastScope> bf16;  // a program may have an autocast of its own, which stays where this is off
    if (savings.bf16) bf16.emplace(device, at::kBFloat16);
    const RecomputeScope recompute(savings.recompute ? Recompute::on : Recompute::off);
    return loss(batch);
  };
}

}  // namespace ddpkit
