#include "tensor/saved_tensor_hooks.hpp"

#include <torch/csrc/autograd/engine.h>

#include "ddpkit/base/error.hpp"

namespace ddpkit {
namespace {

using torch::autograd::Engine;
using torch::autograd::SavedVariableHooks;

thread_local const MakeHooks* make_hooks = nullptr;

/// Autograd has no other way from C++ to default hooks than a virtual function of its engine.
class HookedEngine final : public Engine {
 public:
  HookedEngine() = default;
  ~HookedEngine() override { stop(); }
  HookedEngine(const HookedEngine&) = delete;
  HookedEngine& operator=(const HookedEngine&) = delete;

  std::unique_ptr<SavedVariableHooks> get_default_saved_variable_hooks() override {
    return make_hooks == nullptr ? nullptr : (*make_hooks)();
  }
};

Engine& hooked_engine() {
  static HookedEngine engine;
  return engine;
}

}  // namespace

SavedTensorScope::SavedTensorScope(const MakeHooks& make) : before_(make_hooks) {
  make_hooks = &make;
}

SavedTensorScope::~SavedTensorScope() {
  make_hooks = before_;
}

void install_saved_tensor_hooks() {
  static const bool installed = [] {
    if (&Engine::get_default_engine() != &Engine::get_base_engine())
      throw UsageError("recomputed: LibTorch's autograd engine has been replaced, so that activations cannot be dropped");
    torch::autograd::set_default_engine_stub(&hooked_engine);
    return true;
  }();
  static_cast<void>(installed);
}

}  // namespace ddpkit
