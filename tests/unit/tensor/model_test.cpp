#include "ddpkit/tensor/model.hpp"

#include <torch/nn.h>
#include <torch/script.h>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

namespace ddpkit {

namespace {

struct OwnNet : torch::nn::Module {
  OwnNet() {
    linear = register_module("linear", torch::nn::Linear(2, 3));
    norm = register_module("norm", torch::nn::BatchNorm1d(3));
  }
  torch::nn::Linear linear{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};

std::vector<std::string> names_of(const std::vector<NamedTensor>& items) {
  std::vector<std::string> names;
  for (const NamedTensor& item : items) names.push_back(item.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a model is made of a module's pointer, holder or script, and has the names of a state_dict") {
  const auto own = std::make_shared<OwnNet>();
  const Model from_pointer(own);
  CHECK(names_of(from_pointer.parameters()) == Names{"linear.weight", "linear.bias", "norm.weight", "norm.bias"});
  CHECK(names_of(from_pointer.buffers()) == Names{"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"});
  CHECK(from_pointer.weights().size() == 7);

  torch::nn::Sequential holder(torch::nn::Linear(2, 3));
  CHECK(names_of(Model(holder).weights()) == Names{"0.weight", "0.bias"});

  torch::jit::Module script("net");
  script.register_parameter("w", torch::zeros({2}), false);
  script.register_buffer("seen", torch::zeros({1}));
  script.register_attribute("training", torch::jit::BoolType::get(), true);
  CHECK(names_of(Model(script).weights()) == Names{"w", "seen"});
}

TEST_CASE("a mode reaches all layers") {
  const auto own = std::make_shared<OwnNet>();
  Model model(own);
  model.set_mode(Mode::evaluate);
  CHECK_FALSE(own->norm->is_training());
  model.set_mode(Mode::train);
  CHECK(own->norm->is_training());

  torch::jit::Module script("net");
  script.register_attribute("training", torch::jit::BoolType::get(), true);
  Model(script).set_mode(Mode::evaluate);
  CHECK_FALSE(script.attr("training").toBool());
}

TEST_CASE("tensors are looked up anew, so that replaced ones are seen") {
  const auto own = std::make_shared<OwnNet>();
  const Model model(own);
  own->linear->to(torch::kDouble);
  CHECK(model.parameters()[0].tensor.scalar_type() == torch::kDouble);
  torch::jit::Module script("net");
  script.register_buffer("seen", torch::zeros({1}));
  const Model scripted(script);
  script.setattr("seen", torch::full({1}, 5.0));
  CHECK(scripted.buffers()[0].tensor.item<double>() == 5);
}

TEST_CASE("a null module is refused") {
  CHECK_THROWS_AS(Model(std::shared_ptr<OwnNet>()), UsageError);
  CHECK_THROWS_AS(Model(torch::nn::Linear(nullptr)), c10::Error);
}

}  // namespace ddpkit
