#include "ddpkit/tensor/safetensors_io.hpp"

#include <torch/torch.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/tensor/copy_into.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace ddpkit {

namespace {

std::vector<NamedTensor> weights_of(const torch::nn::Module& model) {
  std::vector<NamedTensor> weights;
  for (const auto& item : model.named_parameters()) weights.push_back({item.key(), item.value()});
  for (const auto& item : model.named_buffers()) weights.push_back({item.key(), item.value()});
  return weights;
}

// The model of tests/golden/make_python_state_dict.py:
//   torch.nn.Sequential(Conv2d(1, 3, 3), BatchNorm2d(3), ReLU(), Flatten(), Linear(48, 5))
torch::nn::Sequential golden_model() {
  return torch::nn::Sequential(torch::nn::Conv2d(1, 3, 3), torch::nn::BatchNorm2d(3), torch::nn::ReLU(), torch::nn::Flatten(),
                               torch::nn::Linear(48, 5));
}

}  // namespace

TEST_CASE("a state_dict written by Python fills the same model in C++, which then computes the same") {
  torch::nn::Sequential model = golden_model();
  const auto weights = weights_of(*model);
  const auto loaded = load_tensors(DDPKIT_GOLDEN_FOLDER "/python_state_dict.safetensors");
  CHECK(copy_into(weights, loaded, Match::strict, "golden") == 9);
  model->eval();
  const torch::NoGradGuard no_grad;
  const at::Tensor output = model->forward(torch::arange(72.0).reshape({2, 1, 6, 6}) / 36 - 1);
  const at::Tensor expected = torch::tensor(
      {{-0.5931002497673035, -0.41946694254875183, -0.054462045431137085, 0.4953995645046234, 0.4192635715007782},
       {0.02279019169509411, -0.04436682164669037, -0.09853605926036835, 0.008726896718144417, -0.04416079819202423}});
  CHECK(torch::allclose(output, expected, 1e-5, 1e-6));
}

TEST_CASE("tensors come back as they were saved, whatever their type and strides") {
  const testing::TemporaryFolder folder;
  torch::manual_seed(2);
  std::vector<NamedTensor> tensors = {{"scalar", torch::tensor(2.5)},
                                      {"empty", torch::zeros({0, 3})},
                                      {"transposed", torch::randn({3, 4}).t()},
                                      {"channels_last", torch::randn({2, 3, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast)},
                                      {"slice", torch::arange(20).slice(0, 3, 17, 2)},
                                      {"leaf", torch::randn({2}).requires_grad_(true)}};
  for (const auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kByte})
    tensors.push_back({at::toString(type), (torch::rand({5}) * 100).to(type)});
  save_tensors(folder / "a.safetensors", tensors, {{"format", "pt"}});
  auto copies = tensors;
  for (auto& named : copies) named.tensor = torch::zeros_like(named.tensor.detach());
  const auto loaded = load_tensors(folder / "a.safetensors");
  CHECK(copy_into(copies, loaded, Match::strict, "file") == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    INFO(tensors[i].name);
    CHECK(torch::equal(copies[i].tensor, tensors[i].tensor));
  }
  for (const auto& named : loaded) CHECK(named.tensor.is_contiguous());
  CHECK(SafetensorsFile(folder / "a.safetensors").metadata().at("format") == "pt");
}

TEST_CASE("loaded tensors outlive the file they came from") {
  const testing::TemporaryFolder folder;
  save_tensors(folder / "a.safetensors", std::vector<NamedTensor>{{"x", torch::arange(3)}});
  const auto loaded = load_tensors(folder / "a.safetensors");
  std::filesystem::remove(folder / "a.safetensors");
  CHECK(torch::equal(loaded.front().tensor, torch::arange(3)));
}

TEST_CASE("a type that files cannot hold is refused by name and nothing is written") {
  const testing::TemporaryFolder folder;
  const std::vector<NamedTensor> tensors = {{"fine", torch::zeros(2)}, {"mask", torch::zeros({2}, at::kChar)}};
  CHECK_THROWS_WITH(save_tensors(folder / "a.safetensors", tensors), Catch::Contains("tensor mask of type Char"));
  CHECK_FALSE(std::filesystem::exists(folder / "a.safetensors"));
}

TEST_CASE("a mask of truth values survives a file") {
  const testing::TemporaryFolder folder;
  const torch::Tensor mask = torch::tensor({true, false, true});
  save_tensors(folder / "mask.safetensors", std::vector<NamedTensor>{{"mask", mask}});
  const torch::Tensor back = torch::zeros({3}, torch::kBool);
  copy_into(std::vector<NamedTensor>{{"mask", back}}, load_tensors(folder / "mask.safetensors"), Match::strict, "file");
  CHECK(torch::equal(back, mask));
}

}  // namespace ddpkit
