#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "ddpkit/tensor/model.hpp"
#include "tensor/generator_states.hpp"

namespace ddpkit {

/// The values of a tensor in plain host memory, which no tensor allocator counts.
class HostCopy {
 public:
  explicit HostCopy(const at::Tensor& tensor);

  /// Puts the values back, bit for bit; a tensor that has got another shape gets its old one as well.
  void write_to(at::Tensor tensor) const;

  /// A new tensor with them.
  at::Tensor make() const;

 private:
  at::Tensor view() const;

  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> strides_;
  at::TensorOptions options_;
  std::vector<std::byte> bytes_;
};

/// Everything that training windows change in a process: parameters, buffers, gradients, modes, and the generators of the CPU
/// and of one device. Takes the gradients away; gives everything back when it is destroyed, bit for bit. What the program keeps
/// besides, such as counters of its own in the loss function, nobody else can know.
class LiveState {
 public:
  /// Throws std::bad_alloc when the host has no memory for a copy of the model.
  LiveState(Model model, c10::Device device);
  ~LiveState();
  LiveState(const LiveState&) = delete;
  LiveState& operator=(const LiveState&) = delete;

  /// Parameters and buffers alone.
  void restore_weights() noexcept;

 private:
  void restore_gradients();

  Model model_;
  std::vector<Mode> modes_;
  std::vector<HostCopy> weights_;
  std::vector<std::optional<HostCopy>> gradients_;
  GeneratorStates generators_;
};

}  // namespace ddpkit
