#include "app/memory_share.hpp"

#include <vector>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "ddpkit/tensor/memory_meter.hpp"
#include "support/captured_stderr.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

}  // namespace

TEST_CASE("without a wish a rank gets its part of what is available") {
  CHECK(share_memory({}, 8 * kGibibyte, 4).limit == 2 * kGibibyte);
  CHECK(share_memory(Bytes{kGibibyte}, 8 * kGibibyte, 4).limit == kGibibyte);
  CHECK(share_memory({}, {}, 4).limit == 0);
  CHECK(share_memory({}, 0, 4).limit == 1);
}

TEST_CASE("the line about memory says how much each rank has and of what") {
  const MemoryShare share = share_memory({}, 22 * kGibibyte, 2);
  CHECK(memory_line(std::vector{share, share}) == "memory: 11 GiB for tensors of each of 2 ranks (available 22 GiB)");
  CHECK(memory_line(std::vector{share_memory({}, 3 * kGibibyte, 1)}) == "memory: 3 GiB for tensors (available 3 GiB)");
  CHECK(memory_line(std::vector{share_memory(Bytes{kGibibyte}, {}, 1)}) == "memory: 1 GiB for tensors");
  CHECK_THAT(memory_line(std::vector{share_memory({}, {}, 1)}), Catch::Contains("set memory.limit"));
}

TEST_CASE("ranks that have different memory are told apart, but not for a small difference") {
  const MemoryShare large = share_memory({}, 22 * kGibibyte, 2), small = share_memory({}, 4 * kGibibyte, 1);
  CHECK(memory_line(std::vector{large, large, small}) ==
        "memory: for tensors of a rank 4 GiB at least, on rank 2 (available 4 GiB), and 11 GiB at most, on rank 0");
  const MemoryShare nearly = share_memory({}, 21 * kGibibyte, 2);
  CHECK_THAT(memory_line(std::vector{large, nearly}), Catch::Contains("10.5 GiB for tensors of each of 2 ranks"));
}

TEST_CASE("a limit above what a rank can count on is warned of") {
  CHECK(memory_warning(std::vector{share_memory({}, 22 * kGibibyte, 2)}).empty());
  const std::vector shares{share_memory({}, 22 * kGibibyte, 2), share_memory(Bytes{12 * kGibibyte}, 22 * kGibibyte, 2)};
  CHECK_THAT(memory_warning(shares), Catch::Contains("memory.limit: 12 GiB is more than rank 1 can count on, 11 GiB"));
  CHECK(memory_warning(std::vector{share_memory(Bytes{kGibibyte}, {}, 1)}).empty());
}

TEST_CASE("the limit that is told is the limit that holds") {
  install_cpu_memory();
  const auto comm = make_communicator({.backend = Backend::local});
  const testing::CapturedStderr captured;
  Logger log({});
  limit_memory(*comm, Bytes{kGibibyte}, c10::kCPU, log);
  CHECK_THAT(captured.text(), Catch::Contains("1 GiB for tensors"));
  CHECK(make_memory_meter(c10::kCPU)->read().limit == kGibibyte);
  limit_cpu_memory({});
}

}  // namespace ddpkit
