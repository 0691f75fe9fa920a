#include "ddpkit/tensor/copy_into.hpp"

#include <torch/torch.h>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

namespace ddpkit {

namespace {

std::vector<NamedTensor> small_model() {
  return {{"fc.weight", torch::zeros({2, 3}).requires_grad_(true)}, {"fc.bias", torch::zeros({2}).requires_grad_(true)}};
}

std::string copy_error(const std::vector<NamedTensor>& destinations, const std::vector<NamedTensor>& source, Match match) {
  try {
    copy_into(destinations, source, match, "weights.safetensors");
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("tensors are copied by name, in any order, into parameters that keep their identity") {
  const auto model = small_model();
  const void* const place = model[1].tensor.data_ptr();
  CHECK(copy_into(model, std::vector<NamedTensor>{{"fc.bias", torch::ones(2)}, {"fc.weight", torch::full({2, 3}, 3.0F)}},
                  Match::strict, "memory") == 2);
  CHECK(torch::equal(model[0].tensor, torch::full({2, 3}, 3.0F)));
  CHECK(torch::equal(model[1].tensor, torch::ones(2)));
  CHECK(model[1].tensor.data_ptr() == place);
  CHECK(model[1].tensor.is_leaf());
}

TEST_CASE("a strict copy lists everything that does not fit, and then writes nothing") {
  const auto model = small_model();
  const std::string message = copy_error(
      model, {{"fc.bias", torch::ones(3)}, {"fc2.weight", torch::ones(1)}, {"fc2.bias", torch::ones(1)}}, Match::strict);
  CHECK(message ==
        "weights.safetensors does not fit:\n"
        "  missing fc.weight\n"
        "  different fc.bias: expected Float [2], got Float [3]\n"
        "  unexpected fc2.weight\n"
        "  unexpected fc2.bias");
  const std::string types =
      copy_error(model, {{"fc.weight", torch::ones({2, 3})}, {"fc.bias", torch::ones({2}, at::kDouble)}}, Match::strict);
  CHECK(types.find("different fc.bias: expected Float [2], got Double [2]") != std::string::npos);
  CHECK(model[0].tensor.abs().max().item<float>() == 0);
}

TEST_CASE("a copy by name passes over what only one side has") {
  const auto model = small_model();
  CHECK(copy_into(model, std::vector<NamedTensor>{{"fc.bias", torch::ones(2)}, {"head.bias", torch::ones(9)}}, Match::by_name,
                  "memory") == 1);
  CHECK(torch::equal(model[1].tensor, torch::ones(2)));
}

TEST_CASE("a copy by name still refuses another shape, and sets that share no name") {
  const auto model = small_model();
  CHECK(copy_error(model, {{"fc.bias", torch::ones(3)}}, Match::by_name).find("different fc.bias") != std::string::npos);
  CHECK(copy_error(model, {{"model.fc.bias", torch::ones(2)}}, Match::by_name)
            .find("no name is shared; expected for example fc.weight, got for example model.fc.bias") != std::string::npos);
}

TEST_CASE("a name that occurs twice is refused") {
  CHECK(copy_error(small_model(), {{"fc.bias", torch::ones(2)}, {"fc.bias", torch::ones(2)}}, Match::strict) ==
        "weights.safetensors: the name fc.bias occurs twice");
}

}  // namespace ddpkit
