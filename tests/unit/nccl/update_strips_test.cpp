#include "cuda/update_strips.hpp"

#include "cuda/update_launch.hpp"
#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/nccl_world.hpp"
#include "support/update_columns.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

constexpr Device kDevice{.type = Device::Type::cuda};

/// More strips than two launches take, some of them empty, one of several chunks.
template <class T>
std::vector<UpdateStrip> many_strips(Columns<T>& columns) {
  std::vector<UpdateStrip> strips;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < 2 * cuda::UpdateLaunch::kMostStrips + 3; ++i) {
    strips.push_back(columns.strip(begin, begin + i % 4));
    begin += i % 4;
  }
  strips.push_back(columns.strip(begin, columns.parameter.size()));
  return strips;
}

template <class T>
int steps_that_differ(const OptimizerOptions& options) {
  int wrong = 0;
  Columns<T> device(9000), host(9000);
  for (std::int64_t step = 1; step <= 3; ++step) {
    cuda::update_strips(rule_at(options, step), dtype_of<T>, many_strips(device), kDevice);
    update_elements(rule_at(options, step), dtype_of<T>, host.strip(0, 9000));
    wrong += same_columns(device, host) ? 0 : 1;
  }
  return wrong;
}

}  // namespace

TEST_CASE("strips in device memory are updated as on the host, to the bit") {
  FakeGpu::get().reset();
  for (const auto& [rule, options] : kUpdateRules) {
    INFO(rule);
    CHECK(steps_that_differ<float>(options) == 0);
    CHECK(steps_that_differ<double>(options) == 0);
    CHECK(steps_that_differ<Half>(options) == 0);
    CHECK(steps_that_differ<BFloat16>(options) == 0);
  }
}

TEST_CASE("nothing is launched for nothing, and integers are refused") {
  FakeGpu::get().reset();
  const std::vector<UpdateStrip> empty(3);
  CHECK_NOTHROW(cuda::update_strips(rule_at({}, 1), DType::float32, empty, kDevice));
  CHECK_THROWS_AS(cuda::update_strips(rule_at({}, 1), DType::int32, empty, kDevice), UsageError);
}
