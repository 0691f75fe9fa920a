#include "ddpkit/tensor/tensor_dataset.hpp"

#include <torch/torch.h>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

std::vector<float> floats_of(const Dataset& dataset, std::int64_t id) {
  std::vector<float> values(static_cast<std::size_t>(dataset.fields()[0].elements()));
  std::byte* const out = reinterpret_cast<std::byte*>(values.data());
  const std::vector<std::int64_t> ids{id};
  dataset.gather(ids, std::vector<std::byte*>{out});
  return values;
}

}  // namespace

TEST_CASE("rows of tensors become samples") {
  const InMemoryDataset dataset =
      tensor_dataset({{"input", torch::arange(24, torch::kFloat).view({4, 2, 3})}, {"target", torch::arange(4)}});
  CHECK(dataset.size() == 4);
  REQUIRE(dataset.fields().size() == 2);
  CHECK(dataset.fields()[0].name == "input");
  CHECK(dataset.fields()[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(dataset.fields()[1].dtype == DType::int64);
  CHECK(dataset.fields()[1].shape.empty());
}

TEST_CASE("tensors of any strides, offset and history can be samples") {
  const torch::Tensor all = torch::arange(12, torch::kFloat).view({3, 4}).requires_grad_(true);
  CHECK(floats_of(tensor_dataset({{"input", all.t()}}), 1) == std::vector<float>{1, 5, 9});
  CHECK(floats_of(tensor_dataset({{"input", all.slice(0, 1)}}), 1) == std::vector<float>{8, 9, 10, 11});
}

TEST_CASE("a data set of tensors outlives the caller's handles and shares their memory") {
  torch::Tensor rows = torch::zeros({2, 16});
  const InMemoryDataset dataset = tensor_dataset({{"input", rows}});
  CHECK(static_cast<void*>(dataset.columns()[0].array.bytes.get()) == rows.data_ptr());
  rows.reset();
  CHECK(floats_of(dataset, 1) == std::vector<float>(16, 0));
}

TEST_CASE("tensors that do not fit together are no data set") {
  CHECK_THROWS_AS(tensor_dataset({{"input", torch::zeros({3, 1})}, {"target", torch::zeros({2})}}), DataError);
  CHECK_THROWS_AS(tensor_dataset({{"input", torch::zeros({3, 1}, torch::kBool)}}), UsageError);
}
