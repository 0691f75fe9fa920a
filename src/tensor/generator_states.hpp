#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <utility>
#include <vector>

namespace ddpkit {

/// The states of LibTorch's own generators, of the CPU and of one device, at one moment.
class GeneratorStates {
 public:
  explicit GeneratorStates(c10::Device device);

  /// The same generators as they are now.
  GeneratorStates now() const;

  void restore() const;

 private:
  GeneratorStates() = default;

  std::vector<std::pair<at::Generator, at::Tensor>> states_;
};

}  // namespace ddpkit
