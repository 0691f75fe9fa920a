#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <utility>
#include <vector>

#include "ddpkit/tensor/named_tensor.hpp"

namespace torch::nn {
class Module;
}
namespace torch::jit {
struct Module;
}

namespace ddpkit {

/// Whether layers such as dropout and batch norm act as in training or as in use.
enum class Mode { train, evaluate };

/// Anything with named parameters, named buffers and a mode: a torch::nn::Module or a torch::jit::Module. Copies share it.
class Model {
 public:
  Model(std::shared_ptr<torch::nn::Module> module);
  Model(const torch::jit::Module& module);

  /// A shared pointer to a module of the user's own class, or what TORCH_MODULE makes of one.
  template <class M>
  Model(const std::shared_ptr<M>& module) : Model(std::shared_ptr<torch::nn::Module>(module)) {}
  template <class Holder>
  requires requires(const Holder& holder) { holder.ptr(); }
  Model(const Holder& holder) : Model(std::shared_ptr<torch::nn::Module>(holder.ptr())) {}

  /// Looked up anew at each call, so that replaced tensors are seen. Names are those of Python's state_dict.
  std::vector<NamedTensor> parameters() const { return access_->parameters(); }
  std::vector<NamedTensor> buffers() const { return access_->buffers(); }

  /// Both: what a state_dict holds.
  std::vector<NamedTensor> weights() const;

  void set_mode(Mode mode) { access_->set_mode(mode); }

  /// Puts the whole model into training mode unless it is there already: layers that the program froze by themselves, such as a
  /// batch norm in fine-tuning, stay as they are.
  void ensure_training();

  /// The mode of every submodule, in a fixed order, and back.
  std::vector<Mode> modes() const { return access_->modes(); }
  void set_modes(const std::vector<Mode>& modes) { access_->set_modes(modes); }
  void to(const c10::Device& device) { access_->to(device); }

  /// How the two kinds of module are reached.
  class Access {
   public:
    virtual ~Access() = default;
    virtual std::vector<NamedTensor> parameters() const = 0;
    virtual std::vector<NamedTensor> buffers() const = 0;
    virtual void set_mode(Mode mode) = 0;
    virtual std::vector<Mode> modes() const = 0;
    virtual void set_modes(const std::vector<Mode>& modes) = 0;
    virtual void to(const c10::Device& device) = 0;
  };

 private:
  std::shared_ptr<Access> access_;
};

}  // namespace ddpkit
