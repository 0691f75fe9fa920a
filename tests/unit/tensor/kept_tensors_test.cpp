#include "ddpkit/tensor/kept_tensors.hpp"

#include <torch/torch.h>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

std::vector<NamedTensor> kept_pair() {
  return {{"mean", torch::tensor({1.0, 2.0})}, {"calls", torch::tensor(std::int64_t{7})}};
}

}  // namespace

TEST_CASE("what was kept is put back, also into tensors that replaced the ones it was copied from") {
  auto tensors = kept_pair();
  KeptTensors kept;
  kept.keep(tensors);
  tensors[0].tensor.add_(5);
  tensors[1].tensor = torch::tensor(std::int64_t{8});
  kept.put_back(tensors);
  CHECK(torch::equal(tensors[0].tensor, kept_pair()[0].tensor));
  CHECK(torch::equal(tensors[1].tensor, kept_pair()[1].tensor));
}

TEST_CASE("keeping again keeps the newest, and another set of tensors altogether") {
  auto tensors = kept_pair();
  KeptTensors kept;
  kept.keep(tensors);
  tensors[0].tensor.mul_(10);
  kept.keep(tensors);
  tensors[0].tensor.zero_();
  kept.put_back(tensors);
  CHECK(tensors[0].tensor[1].item<double>() == 20);
  std::vector<NamedTensor> others{{"mean", torch::ones({3, 3})}};
  kept.keep(others);
  others[0].tensor.zero_();
  kept.put_back(others);
  CHECK(others[0].tensor.sum().item<double>() == 9);
  CHECK_THROWS_AS(kept.put_back(tensors), DataError);
}

TEST_CASE("with nothing kept there is nothing to put back") {
  auto tensors = kept_pair();
  KeptTensors().put_back(tensors);
  CHECK(torch::equal(tensors[0].tensor, kept_pair()[0].tensor));
}

}  // namespace ddpkit
