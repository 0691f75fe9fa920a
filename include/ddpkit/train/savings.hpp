#pragma once

#include <c10/core/DeviceType.h>

#include "ddpkit/step/stepper.hpp"
#include "ddpkit/tensor/memory_options.hpp"

namespace ddpkit {

/// Which ways of saving memory are in use. Equal on all ranks; changed between windows only.
struct Savings {
  bool bf16 = false;
  bool recompute = false;
};

/// Those that are to be used from the start.
Savings savings_at_start(const MemoryOptions& options);

/// `loss`, computed with the savings that are in use when it is called. `savings` must outlive it.
LossFunction with_savings(LossFunction loss, const Savings& savings, c10::DeviceType device);

}  // namespace ddpkit
