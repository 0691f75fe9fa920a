#pragma once

#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <functional>
#include <memory>

namespace ddpkit {

/// Makes the hooks through which autograd saves one tensor.
using MakeHooks = std::function<std::unique_ptr<torch::autograd::SavedVariableHooks>()>;

/// While it lives, tensors that autograd saves on this thread go through hooks that `make` makes. The innermost scope counts.
/// `make` must outlive it.
class SavedTensorScope {
 public:
  explicit SavedTensorScope(const MakeHooks& make);
  ~SavedTensorScope();
  SavedTensorScope(const SavedTensorScope&) = delete;
  SavedTensorScope& operator=(const SavedTensorScope&) = delete;

 private:
  const MakeHooks* before_;
};

/// Makes scopes effective: LibTorch asks its engine for hooks, and its own has none. Does nothing the second time. Throws
/// UsageError where the engine has been replaced by another, as Python's interpreter does.
void install_saved_tensor_hooks();

}  // namespace ddpkit
