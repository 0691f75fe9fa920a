#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace ddpkit {

/// A parameter, buffer or piece of state with the name it has in files: "fc1.weight", "bn.running_mean".
/// Shares the tensor, does not copy it.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

}  // namespace ddpkit
