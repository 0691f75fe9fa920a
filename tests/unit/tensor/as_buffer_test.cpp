#include "ddpkit/tensor/as_buffer.hpp"

#include <torch/types.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "support/catch.hpp"

namespace ddpkit {

TEST_CASE("types go to tensors and back") {
  for (const DType type :
       {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int32, DType::int64, DType::uint8}) {
    const torch::Tensor tensor = torch::zeros({3}, scalar_type_of(type));
    CHECK(dtype_of_tensor(tensor) == type);
    CHECK(as_buffer(tensor).bytes() == tensor.nbytes());
  }
  CHECK_THROWS_WITH(dtype_of_tensor(torch::zeros({1}, torch::kBool)), Catch::Contains("Bool"));
  CHECK_THROWS_AS(dtype_of_tensor(torch::zeros({1}, torch::kComplexFloat)), UsageError);
}

TEST_CASE("a buffer is the tensor's memory, keeps it alive, and takes any dense order of strides") {
  torch::Tensor tensor = torch::ones({2, 3, 4, 5}).contiguous(torch::MemoryFormat::ChannelsLast);
  const Buffer buffer = as_buffer(tensor);
  CHECK(buffer.data == tensor.data_ptr());
  CHECK(buffer.count == 120);
  tensor.reset();
  CHECK(static_cast<const float*>(buffer.data)[119] == 1);
  CHECK(as_buffer(torch::zeros({0})).count == 0);
  CHECK_THROWS_WITH(as_buffer(torch::zeros({4, 4}).slice(1, 0, 2)),
                    Catch::Contains("[4, 2]") && Catch::Contains("contiguous()"));
  CHECK_THROWS_AS(as_buffer(torch::zeros({1}).expand({4})), UsageError);
}

TEST_CASE("a tensor over allocated memory knows its place in it") {
  const auto comm = make_communicator({.backend = Backend::local});
  const Memory memory = comm->allocate(64);
  const torch::Tensor whole = tensor_in(memory, 0, 16, DType::float32).zero_();
  const torch::Tensor second = tensor_in(memory, 32, 4, DType::float64);
  second.fill_(3);
  CHECK(whole.dtype() == torch::kFloat);
  CHECK(whole[7].item<float>() == 0);
  const Buffer buffer = as_buffer(second, memory);
  CHECK(buffer.offset == 32);
  CHECK_THROWS_AS(as_buffer(torch::zeros({4}), memory), UsageError);
  CHECK_THROWS(tensor_in(memory, 32, 5, DType::float64));
}

}  // namespace ddpkit
