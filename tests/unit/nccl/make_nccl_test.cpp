#include <thread>

#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/cuda/nccl.hpp"
#include "support/catch.hpp"
#include "support/nccl_world.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {
constexpr Device kFirst{.type = Device::Type::cuda};
}

TEST_CASE("a control communicator introduces the ranks to NCCL") {
  FakeGpu::get().reset();
  const auto control = make_communicator({.backend = Backend::local});
  const auto comm = make_nccl_communicator(*control, kFirst);
  CHECK(comm->backend() == "nccl");
  CHECK(comm->world_size() == 1);
  comm->barrier();
}

TEST_CASE("ranks without MPI meet in a folder and reduce") {
  FakeGpu::get().reset();
  const TemporaryFolder folder;
  std::vector<float> sums(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      const auto comm =
          make_nccl_communicator({.place = "file://" + folder.path().string(), .rank = rank, .world_size = 3},
                                 {.type = Device::Type::cuda, .index = rank}, {.timeout = std::chrono::seconds(30)});
      std::vector<float> data{static_cast<float>(rank + 1)};
      comm->all_reduce(on_device(data, rank), ReduceOp::sum).synchronize();
      sums[static_cast<std::size_t>(rank)] = data[0];
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(sums == std::vector<float>{6, 6, 6});
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a machine without a GPU is told so, with a hint") {
  FakeGpu::get().reset();
  FakeGpu::get().behaviour.devices = 0;
  const auto control = make_communicator({.backend = Backend::local});
  const std::string message = message_of_throw([&] { make_nccl_communicator(*control, kFirst); });
  CHECK_THAT(message, Catch::Contains("rank 0 on ") && Catch::Contains("no CUDA-capable device is detected") &&
                          Catch::Contains("CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("wrong settings of a rendezvous are refused") {
  CHECK_THROWS_AS(make_nccl_communicator({.place = "http://x:1"}, kFirst), ConfigError);
  CHECK_THROWS_AS(make_nccl_communicator({.place = "tcp://x"}, kFirst), ConfigError);
  CHECK_THROWS_AS(make_nccl_communicator({.place = "file:///tmp", .rank = 2, .world_size = 2}, kFirst), ConfigError);
  CHECK_THROWS_AS(make_nccl_communicator({.place = "file:///tmp"}, Device{}), UsageError);
}
