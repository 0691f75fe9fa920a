// What happens when NCCL, CUDA or a peer fails.
#include <atomic>

#include "ddpkit/base/text.hpp"
#include "support/catch.hpp"
#include "support/nccl_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;
using std::chrono::milliseconds;

namespace {

FakeGpu& gpu_after_reset() {
  FakeGpu::get().reset();
  return FakeGpu::get();
}

// Something that NCCL has to work for also where there is one rank.
Work copy_through_nccl(Communicator& comm, std::vector<float>& from_first_half, std::string_view tag = {}) {
  Buffer in = on_device(from_first_half, 0);
  in.count /= 2;
  Buffer out = in;
  out.data = from_first_half.data() + in.count;
  return comm.all_gather(in, out, tag);
}

// Everything a communicator can do, once.
void use_all(Communicator& comm) {
  std::vector<float> data(4, 1.0F);
  std::vector<float> part(4);
  const Buffer buffer = on_device(data, 0);
  comm.all_reduce(buffer, ReduceOp::mean).wait();
  comm.broadcast(buffer, 0).synchronize();
  comm.reduce_scatter(buffer, on_device(part, 0), ReduceOp::sum).synchronize();
  comm.all_gather(on_device(part, 0), buffer).synchronize();
  const Memory memory = comm.allocate(64);
  comm.all_reduce(Buffer::in(memory, 0, 16, DType::float32), ReduceOp::max).synchronize();
  comm.barrier();
  comm.split(0, 0)->barrier();
}

void connect_and_use_all() {
  use_all(*lone_rank({.timeout = std::chrono::minutes(1)}));
}

// These end something, in a destructor: they are not reported.
bool is_an_end(const std::string& call) {
  for (const char* end : {"Destroy", "Abort", "Finalize", "Free", "Deregister", "StreamQuery", "DeviceSynchronize"})
    if (call.find(end) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a failure of any call surfaces by name and leaves nothing behind") {
  FakeGpu& gpu = gpu_after_reset();
  connect_and_use_all();
  const int calls = static_cast<int>(gpu.log.size());
  REQUIRE(calls > 60);
  for (int call = 0; call < calls; ++call) {
    gpu.reset();
    gpu.behaviour.fail_call = call;
    const std::string message = message_of_throw(connect_and_use_all);
    INFO("call " << call << ": " << gpu.failed_call << ": " << message);
    CHECK(gpu.live == 0);
    if (message.empty()) {
      // Asking for the device also happens where nothing can be thrown.
      const bool asks_device = gpu.failed_call == "cudaGetDevice" || gpu.failed_call == "cudaSetDevice";
      CHECK((is_an_end(gpu.failed_call) || asks_device || gpu.failed_call == "ncclCommGetAsyncError"));
    } else {
      CHECK_THAT(message, Catch::Contains(gpu.failed_call));
    }
  }
}

TEST_CASE("an error under way aborts once and is what every later call reports") {
  FakeGpu& gpu = gpu_after_reset();
  const auto comm = lone_rank({.timeout = std::chrono::minutes(1)});
  std::vector<float> data(256);
  gpu.behaviour.stalled = true;
  const Work work = copy_through_nccl(*comm, data, "bucket 4, fc2.weight..fc3.bias");
  gpu.behaviour.async_errors[0] = ncclRemoteError;
  const std::string message = message_of_throw([&] { work.synchronize(); });
  CHECK_THAT(message, Catch::Contains("all_gather #0 (bucket 4, fc2.weight..fc3.bias), 512 bytes"));
  CHECK_THAT(message, Catch::Contains("remote process exited"));
  CHECK(gpu.aborts == 1);
  CHECK(work.done());
  CHECK_THROWS_AS(work.wait(), CommError);
  CHECK_THROWS_AS(comm->barrier(), CommError);
  CHECK_THROWS_AS(comm->allocate(8), CommError);
  CHECK_THROWS_AS(comm->split(0, 0), CommError);
  CHECK_THAT(message_of_throw([&] { (void)comm->broadcast(on_device(data, 0), 0); }), Catch::Contains("only abort is legal"));
  CHECK_THAT(message_of_throw([&] { (void)comm->broadcast(on_device(data, 0), 0); }), Catch::Contains("bucket 4"));
  CHECK(gpu.aborts == 1);
}

TEST_CASE("a new call, too, finds out about an error under way") {
  FakeGpu& gpu = gpu_after_reset();
  const auto comm = lone_rank({.timeout = std::chrono::minutes(1)});
  std::vector<float> data(4);
  gpu.behaviour.async_errors[0] = ncclSystemError;
  CHECK(status_of_throw([&] { (void)comm->all_reduce(on_device(data, 0), ReduceOp::sum); }) == ExitStatus::peer_lost);
  CHECK(gpu.count("ncclAllReduce") == 0);
  CHECK(gpu.aborts == 1);
}

TEST_CASE("a collective that a rank does not join times out by name") {
  FakeGpu& gpu = gpu_after_reset();
  const auto errors = try_ranks(2,
                                [](Communicator& comm) {
                                  if (comm.rank() == 1) return;
                                  std::vector<float> data(4);
                                  comm.all_reduce(on_device(data, 0), ReduceOp::sum, "bucket 2").synchronize();
                                },
                                {.timeout = milliseconds(60)});
  CHECK_THAT(message_of(errors[0]), Catch::Contains("rank 0: all_reduce #0 (bucket 2), 16 bytes") && Catch::Contains("60 ms"));
  CHECK(status_of_throw([&] { std::rethrow_exception(errors[0]); }) == ExitStatus::timeout);
  CHECK(gpu.live == 0);
}

TEST_CASE("work under way that nobody asks after is aborted when its time is over") {
  FakeGpu& gpu = gpu_after_reset();
  const auto comm = lone_rank({.timeout = milliseconds(40)});
  std::vector<float> data(4);
  gpu.behaviour.stalled = true;
  const Work work = copy_through_nccl(*comm, data, "bucket 9");
  // As a host that is blocked in cudaStreamSynchronize: only the watch can end this.
  std::unique_lock lock(gpu.mutex);
  CHECK(gpu.changed.wait_for(lock, std::chrono::seconds(30), [&] { return gpu.aborts == 1; }));
  lock.unlock();
  CHECK_THAT(message_of_throw([&] { work.wait(); }), Catch::Contains("bucket 9") && Catch::Contains("timed out"));
}

TEST_CASE("ranks that call different things fail instead of hanging") {
  gpu_after_reset();
  const auto errors = try_ranks(2, [](Communicator& comm) {
    std::vector<float> data(static_cast<std::size_t>(4 + comm.rank()));
    comm.all_reduce(on_device(data, comm.rank()), ReduceOp::sum).synchronize();
  });
  CHECK((errors[0] || errors[1]));
  CHECK(FakeGpu::get().live == 0);
}

TEST_CASE("a rank that dies takes the others out of their collective") {
  gpu_after_reset();
  const auto errors = try_ranks(3, [](Communicator& comm) {
    if (comm.rank() == 2) return comm.abort(Error("out of luck"));
    comm.barrier();
  });
  CHECK_THAT(message_of(errors[0]), Catch::Contains("remote process exited"));
  CHECK_THAT(message_of(errors[1]), Catch::Contains("remote process exited"));
  CHECK(FakeGpu::get().live == 0);
}

TEST_CASE("abort ends the communicator, then the job with the error's status") {
  FakeGpu& gpu = gpu_after_reset();
  std::vector<ExitStatus> ended;
  const auto comm = lone_rank({.timeout = std::chrono::minutes(1), .end_job = [&](const Error& reason) {
                                 CHECK(gpu.aborts == 1);
                                 ended.push_back(reason.status());
                               }});
  comm->abort(DataError("bad label"));
  CHECK(ended == std::vector{ExitStatus::data});
  CHECK_THAT(message_of_throw([&] { comm->barrier(); }), Catch::Contains("aborted: bad label"));
  comm->abort(DataError("again"));
  CHECK(gpu.aborts == 1);
}

TEST_CASE("a communicator that never stands times out") {
  FakeGpu& gpu = gpu_after_reset();
  gpu.behaviour.polls_in_progress = 1 << 30;
  CHECK_THAT(message_of_throw([] { lone_rank({.timeout = milliseconds(30)}); }),
             Catch::Contains("ncclCommInitRankConfig was still in progress after 30 ms"));
  CHECK(gpu.live == 0);
  CHECK(gpu.aborts == 1);
}

TEST_CASE("letting go of a communicator does not wait for ever") {
  FakeGpu& gpu = gpu_after_reset();
  SECTION("work is under way") {
    auto comm = lone_rank({.timeout = milliseconds(30)});
    std::vector<float> data(4);
    gpu.behaviour.stalled = true;
    (void)copy_through_nccl(*comm, data);
    comm.reset();
  }
  SECTION("the others do not let go") {
    auto comm = lone_rank({.timeout = milliseconds(30)});
    gpu.behaviour.finalize_hangs = true;
    comm.reset();
  }
  CHECK(gpu.aborts == 1);
  CHECK(gpu.destroys == 0);
  CHECK(gpu.live == 0);
}

TEST_CASE("memory can be released after a failure") {
  FakeGpu& gpu = gpu_after_reset();
  auto comm = lone_rank({.timeout = std::chrono::minutes(1)});
  Memory memory = comm->allocate(128);
  comm->abort(Error("lost"));
  memory = Memory();
  CHECK(gpu.count("ncclCommDeregister") == 0);  // the communicator is gone
  comm.reset();
  CHECK(gpu.live == 0);
}

TEST_CASE("no memory is an error that leaves the communicator usable") {
  FakeGpu& gpu = gpu_after_reset();
  const auto comm = lone_rank({.timeout = std::chrono::minutes(1)});
  const auto log_size = [&] {
    const std::lock_guard lock(gpu.mutex);
    return static_cast<int>(gpu.log.size());
  };
  gpu.behaviour.fail_call = log_size() + 1;  // cudaGetDevice comes first
  CHECK_THAT(message_of_throw([&] { comm->allocate(64); }),
             Catch::Contains("no 64 bytes on rank 0; here: ncclMemAlloc failed"));
  CHECK(gpu.failed_call == "ncclMemAlloc");
  CHECK_NOTHROW(comm->barrier());
}
