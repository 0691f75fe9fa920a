#include "ddpkit/tensor/model.hpp"

#include <torch/csrc/jit/api/module.h>
#include <torch/nn/module.h>

#include "ddpkit/base/error.hpp"

namespace ddpkit {
namespace {

Mode mode_of(bool training) {
  return training ? Mode::train : Mode::evaluate;
}

class EagerModule final : public Model::Access {
 public:
  explicit EagerModule(std::shared_ptr<torch::nn::Module> module) : module_(std::move(module)) {
    if (!module_) throw UsageError("Model: the module is a null pointer");
  }
  std::vector<NamedTensor> parameters() const override { return named_tensors(module_->named_parameters()); }
  std::vector<NamedTensor> buffers() const override { return named_tensors(module_->named_buffers()); }
  void set_mode(Mode mode) override { module_->train(mode == Mode::train); }
  std::vector<Mode> modes() const override {
    std::vector<Mode> modes;
    for (const auto& module : module_->modules()) modes.push_back(mode_of(module->is_training()));
    return modes;
  }
  // Parents come first and take their children along, which are then set to their own.
  void set_modes(const std::vector<Mode>& modes) override {
    std::size_t next = 0;
    for (const auto& module : module_->modules()) module->train(modes.at(next++) == Mode::train);
  }
  void to(const c10::Device& device) override { module_->to(device); }

 private:
  std::shared_ptr<torch::nn::Module> module_;
};

class ScriptModule final : public Model::Access {
 public:
  explicit ScriptModule(torch::jit::Module module) : module_(std::move(module)) {}
  std::vector<NamedTensor> parameters() const override { return list(module_.named_parameters()); }
  std::vector<NamedTensor> buffers() const override { return list(module_.named_buffers()); }
  void set_mode(Mode mode) override { module_.train(mode == Mode::train); }
  std::vector<Mode> modes() const override {
    std::vector<Mode> modes;
    for (const auto& module : module_.modules()) modes.push_back(mode_of(module.is_training()));
    return modes;
  }
  void set_modes(const std::vector<Mode>& modes) override {
    std::size_t next = 0;
    for (auto module : module_.modules()) module.train(modes.at(next++) == Mode::train);
  }
  void to(const c10::Device& device) override { module_.to(device); }

 private:
  template <class Items>
  static std::vector<NamedTensor> list(const Items& items) {
    std::vector<NamedTensor> result;
    for (const auto& item : items) result.push_back({item.name, item.value});
    return result;
  }

  torch::jit::Module module_;
};

}  // namespace

Model::Model(std::shared_ptr<torch::nn::Module> module) : access_(std::make_shared<EagerModule>(std::move(module))) {}

Model::Model(const torch::jit::Module& module) : access_(std::make_shared<ScriptModule>(module)) {}

std::vector<NamedTensor> Model::weights() const {
  std::vector<NamedTensor> weights = parameters();
  for (NamedTensor& buffer : buffers()) weights.push_back(std::move(buffer));
  return weights;
}

void Model::ensure_training() {
  const std::vector<Mode> now = modes();
  if (now.empty() || now.front() == Mode::evaluate) set_mode(Mode::train);
}

}  // namespace ddpkit
