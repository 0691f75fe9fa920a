// What the device is told to do, in which order, and what the host never does.
#include <memory>

#include "ddpkit/base/text.hpp"
#include "support/catch.hpp"
#include "support/nccl_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

class QuietWorld {
 public:
  QuietWorld() : gpu((FakeGpu::get().reset(), FakeGpu::get())), comm(lone_rank({.timeout = std::chrono::minutes(1)})) {
    gpu.stream_log.clear();
    gpu.log.clear();
  }

  FakeGpu& gpu;
  std::unique_ptr<Communicator> comm;
  CallerStream stream;
  std::vector<float> data = std::vector<float>(8, 1.0F);
  std::vector<float> out = std::vector<float>(8);

  /// What NCCL has to do something for also where there is one rank.
  Work issue(std::shared_ptr<const void> owner = nullptr) {
    Buffer in = on_device(data, 0, stream.get());
    in.keep_alive = std::move(owner);
    return comm->all_gather(in, on_device(out, 0, stream.get()));
  }
};

}  // namespace

TEST_CASE("a collective runs on an urgent stream, after what the caller's stream held") {
  QuietWorld world;
  const Work work = world.issue();
  const std::vector<std::string> log = world.gpu.stream_log;
  REQUIRE(log.size() == 4);
  const std::string caller = text(" s", world.stream.id());
  CHECK_THAT(log[0], Catch::StartsWith("record e") && Catch::EndsWith(caller));
  const std::string ready = log[0].substr(7, log[0].find(" s") - 7);
  CHECK_THAT(log[1], Catch::StartsWith("wait s") && Catch::EndsWith(" " + ready));
  const std::string own = log[1].substr(5, log[1].find(" e") - 5);
  CHECK(own != caller.substr(1));
  CHECK(log[2] == "ncclAllGather " + own);
  CHECK_THAT(log[3], Catch::StartsWith("record e") && Catch::EndsWith(" " + own));
}

TEST_CASE("wait orders the caller's stream after the collective and does not block the host") {
  QuietWorld world;
  world.gpu.behaviour.stalled = true;
  const Work work = world.issue();
  const std::string done = world.gpu.stream_log.back().substr(7, world.gpu.stream_log.back().find(" s") - 7);
  work.wait();
  CHECK(world.gpu.stream_log.back() == text("wait s", world.stream.id(), " ", done));
  CHECK_FALSE(work.done());
  CHECK(cudaStreamQuery(world.stream.get()) == cudaErrorNotReady);
  world.comm->abort(Error("end of the test"));
}

TEST_CASE("the steady state neither blocks the host nor makes events") {
  QuietWorld world;
  for (int step = 0; step < 100; ++step) {
    std::vector<Work> works;
    for (int bucket = 0; bucket < 5; ++bucket) works.push_back(world.issue());
    for (const Work& work : works) work.wait();
    if (step == 0) world.gpu.log.clear();
  }
  CHECK(world.gpu.count("ncclAllGather") == 99 * 5);
  CHECK(world.gpu.count("cudaStreamSynchronize") == 0);
  CHECK(world.gpu.count("cudaEventSynchronize") == 0);
  CHECK(world.gpu.count("cudaDeviceSynchronize") == 0);
  CHECK(world.gpu.count("cudaEventCreateWithFlags") == 0);
  CHECK(world.gpu.count("cudaMalloc") == 0);
}

TEST_CASE("an owner is kept until the stream is ordered, a block until the collective is done") {
  QuietWorld world;
  Memory memory = world.comm->allocate(32);
  const std::weak_ptr<Memory::Block> block = memory.block();
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> owned = owner;
  world.gpu.behaviour.stalled = true;
  Work work;
  {
    Buffer data = Buffer::in(memory, 0, 8, DType::float32);
    data.keep_alive = std::move(owner);
    work = world.comm->all_gather(data, on_device(world.out, 0));
  }
  memory = Memory();
  CHECK_FALSE(owned.expired());
  work.wait();
  CHECK(owned.expired());
  CHECK_FALSE(block.expired());
  world.comm->abort(Error("end of the test"));
  CHECK(work.done());
  world.comm.reset();
  CHECK(block.expired());
}

TEST_CASE("a dropped work neither cancels nor loses its memory") {
  QuietWorld world;
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> owned = owner;
  { (void)world.issue(std::move(owner)); }
  (void)world.issue();
  CHECK(owned.expired());  // let go by the next call, since it is done
}

TEST_CASE("a work may be waited for after its communicator is gone") {
  QuietWorld world;
  const Work work = world.issue();
  world.comm.reset();
  CHECK(work.done());
  CHECK_NOTHROW(work.wait());
  CHECK_NOTHROW(work.synchronize());
}

TEST_CASE("a collective that NCCL has not put on the stream yet is not done") {
  QuietWorld world;
  world.gpu.behaviour.polls_in_progress = 3;
  world.gpu.behaviour.collectives_take_time = true;
  world.gpu.behaviour.stalled = true;
  const Work work = world.issue();
  CHECK_FALSE(work.done());
  world.comm->abort(Error("end of the test"));
}

TEST_CASE("a rank alone puts nothing on any stream for what is in place") {
  QuietWorld world;
  const Buffer data = on_device(world.data, 0, world.stream.get());
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::max}) world.comm->all_reduce(data, op).wait();
  world.comm->broadcast(data, 0).synchronize();
  world.comm->barrier();
  CHECK(world.gpu.stream_log.empty());
  CHECK(world.data == std::vector<float>(8, 1.0F));
}
