#include "ddpkit/tensor/batch.hpp"

#include <torch/types.h>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

namespace ddpkit {

TEST_CASE("a host batch becomes tensors that share its bytes and keep them") {
  HostBatch host;
  host.arrays.push_back(make_array("input", DType::float32, {2, 3}));
  host.arrays.push_back(make_array("target", DType::uint8, {2}));
  for (std::size_t i = 0; i < 6; ++i) host.arrays[0].values<float>()[i] = static_cast<float>(i);
  host.ids = {7, 4};
  host.rows = 2;
  host.micro_index = 3;
  const void* bytes = host.arrays[0].bytes.get();
  const Batch batch(std::make_shared<const HostBatch>(std::move(host)));
  CHECK(batch.input().data_ptr() == bytes);
  CHECK(torch::equal(batch.input(), torch::arange(6, torch::kFloat).view({2, 3})));
  CHECK(batch.target().scalar_type() == torch::kByte);
  CHECK(batch.rows() == 2);
  CHECK(batch.micro_index() == 3);
  CHECK(std::vector<std::int64_t>(batch.ids().begin(), batch.ids().end()) == std::vector<std::int64_t>{7, 4});
}

TEST_CASE("memory that comes back with other rows is seen through the tensors made before, unless the program changed them") {
  const auto host = std::make_shared<HostBatch>();
  host->arrays.push_back(make_array("input", DType::float32, {2, 3}));
  host->rows = 2;
  const void* made = Batch(host).input().unsafeGetTensorImpl();
  CHECK(Batch(host).input().unsafeGetTensorImpl() == made);
  Batch(host).input().requires_grad_(true);
  CHECK_FALSE(Batch(host).input().requires_grad());
  Batch(host).input().unsqueeze_(0);
  CHECK(Batch(host).input().sizes() == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("a tensor that is kept, or a part of one, keeps its memory from being used again") {
  const auto host = std::make_shared<HostBatch>();
  host->arrays.push_back(make_array("input", DType::float32, {2, 3}));
  host->rows = 2;
  torch::Tensor part = Batch(host).input().slice(0, 0, 1);
  CHECK_FALSE(host->extension->unused());
  part = torch::Tensor();
  CHECK(host->extension->unused());
}

TEST_CASE("an array that is not there is refused with the names of those that are") {
  const Batch batch({{"image", torch::zeros({2, 3})}, {"label", torch::zeros({2})}});
  CHECK_THROWS_WITH(batch.input(), Catch::Contains("\"input\"") && Catch::Contains("image, label"));
  CHECK_THROWS_WITH(Batch().target(), Catch::Contains("nothing"));
  CHECK(Batch().rows() == 0);
}

TEST_CASE("own tensors must have the same number of rows") {
  CHECK_THROWS_WITH(Batch({{"input", torch::zeros({2, 3})}, {"target", torch::zeros({3})}}),
                    Catch::Contains("\"target\" has 3 rows and \"input\" 2"));
  CHECK_THROWS_WITH(Batch({{"input", torch::zeros({})}}), Catch::Contains("scalar"));
}

TEST_CASE("moving a batch to where it is copies nothing") {
  const Batch batch({{"input", torch::zeros({2, 3})}});
  CHECK(batch.to(c10::kCPU).input().data_ptr() == batch.input().data_ptr());
  CHECK(batch.to(c10::kCPU).rows() == 2);
}

}  // namespace ddpkit
