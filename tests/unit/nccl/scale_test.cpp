#include "ddpkit/cuda/scale.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/nccl_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

template <class T>
Buffer placed(std::vector<T>& data, Device::Type where) {
  Buffer buffer{std::span<T>(data)};
  buffer.device.type = where;
  return buffer;
}

}  // namespace

TEST_CASE("scaling multiplies every element, on the host and on the device alike") {
  FakeGpu::get().reset();
  for (const Device::Type where : {Device::Type::cpu, Device::Type::cuda}) {
    std::vector<float> floats{1.0F, -3.0F, 0.1F};
    scale(placed(floats, where), 0.25);
    CHECK(floats == std::vector<float>{0.25F, -0.75F, 0.1F * 0.25F});
    std::vector<double> doubles{1.0, 0.1};
    scale(placed(doubles, where), 1.0 / 3.0);
    CHECK(doubles == std::vector<double>{1.0 / 3.0, 0.1 * (1.0 / 3.0)});
  }
}

TEST_CASE("16-bit elements are scaled in float32 and rounded once, to nearest even") {
  for (int i = 0; i < 2000; ++i) {
    const float value = 0.37F * static_cast<float>(i) - 300.0F;
    std::vector<Half> halves{to_half(value)};
    const Half half_before = halves[0];
    scale(placed(halves, Device::Type::cpu), 1.0 / 3.0);
    CHECK(halves[0].bits == to_half(to_float(half_before) * static_cast<float>(1.0 / 3.0)).bits);
    std::vector<BFloat16> brains{to_bfloat16(value)};
    const BFloat16 brain_before = brains[0];
    scale(placed(brains, Device::Type::cpu), 1.0 / 3.0);
    CHECK(brains[0].bits == to_bfloat16(to_float(brain_before) * static_cast<float>(1.0 / 3.0)).bits);
  }
}

TEST_CASE("integers are not scaled, nothing is") {
  std::vector<int> integers{4};
  CHECK_THROWS_AS(scale(placed(integers, Device::Type::cpu), 0.5), UsageError);
  std::vector<float> none;
  CHECK_NOTHROW(scale(placed(none, Device::Type::cuda), 0.5));
}
