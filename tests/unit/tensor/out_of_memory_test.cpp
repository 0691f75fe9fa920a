#include "ddpkit/tensor/out_of_memory.hpp"

#include <torch/script.h>

#include <new>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

template <class Body>
std::optional<std::string> shortage_in(Body&& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return out_of_memory(error);
  }
  FAIL("nothing was thrown");
  return std::nullopt;
}

}  // namespace

TEST_CASE("memory that runs out is known by its type, and told in one line without a backtrace") {
  const auto from_torch = shortage_in([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "no room for 4 MiB\nat all"); });
  CHECK(from_torch == "no room for 4 MiB");
  CHECK(shortage_in([] { throw std::bad_alloc(); }) == "the system refused memory");
}

TEST_CASE("memory that LibTorch's own allocator does not get is known by its words") {
  CHECK(shortage_in([] { TORCH_CHECK(false, "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."); }));
}

TEST_CASE("memory that runs out inside a scripted module is known, though its interpreter throws another type") {
  torch::jit::Module script("net");
  script.define("def forward(self, x: Tensor):\n  return torch.zeros([1 << 40, 1 << 14]) + x\n");  // 64 PiB
  const auto shortage = shortage_in([&] { script.forward({torch::ones({1})}); });
  REQUIRE(shortage);
  CHECK(shortage->find('\n') == std::string::npos);
}

TEST_CASE("other failures are no shortage, whatever an error of ours quotes") {
  CHECK_FALSE(shortage_in([] { throw std::runtime_error("no loss today"); }));
  CHECK_FALSE(shortage_in([] { TORCH_CHECK(false, "mat1 and mat2 shapes cannot be multiplied"); }));
  CHECK_FALSE(shortage_in([] { throw ConfigError("memory.limit: out of memory is what you want?"); }));
}

}  // namespace ddpkit
