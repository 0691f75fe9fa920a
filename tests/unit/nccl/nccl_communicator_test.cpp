#include "comm/nccl/nccl_communicator.hpp"

#include <algorithm>
#include <cmath>

#include "ddpkit/base/text.hpp"
#include "support/catch.hpp"
#include "support/nccl_world.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

FakeGpu& fresh_gpu() {
  FakeGpu::get().reset();
  return FakeGpu::get();
}

// Small integers, exact in every type.
template <class T>
T element(int rank, std::size_t i) {
  const int value = static_cast<int>((i * 7 + static_cast<std::size_t>(rank) * 3) % 11);
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
double value_of(T element) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return to_float(element);
  } else {
    return static_cast<double>(element);
  }
}

template <class T>
std::vector<T> elements(int rank, std::size_t count) {
  std::vector<T> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(element<T>(rank, i));
  return all;
}

template <class T>
double expected(ReduceOp op, int ranks, std::size_t i) {
  double sum = 0;
  double least = 100;
  double most = -100;
  for (int rank = 0; rank < ranks; ++rank) {
    const double value = value_of(element<T>(rank, i));
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  switch (op) {
    case ReduceOp::sum: return sum;
    case ReduceOp::mean: return sum / ranks;
    case ReduceOp::min: return least;
    case ReduceOp::max: return most;
  }
  return 0;
}

// 0 when all are near, else the worst relative difference.
template <class T>
double worst(const std::vector<T>& got, std::size_t first, ReduceOp op, int ranks) {
  double difference = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = expected<T>(op, ranks, first + i);
    difference = std::max(difference, std::abs(value_of(got[i]) - want) / (1 + std::abs(want)));
  }
  return difference;
}

// Catch2's assertions are not thread-safe: ranks throw, the caller asserts.
void demand(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

template <class T>
void reduce_everywhere(int ranks, std::size_t count, ReduceOp op) {
  run_ranks(ranks, [&](Communicator& comm) {
    std::vector<T> data = elements<T>(comm.rank(), count);
    comm.all_reduce(on_device(data, comm.rank()), op).synchronize();
    demand(worst(data, 0, op, ranks) < 1e-2, text("all_reduce of ", count, " on ", ranks));

    const std::vector<T> whole = elements<T>(comm.rank(), count * static_cast<std::size_t>(ranks));
    std::vector<T> in = whole;
    std::vector<T> part(count);
    comm.reduce_scatter(on_device(in, comm.rank()), on_device(part, comm.rank()), op).synchronize();
    demand(worst(part, count * static_cast<std::size_t>(comm.rank()), op, ranks) < 1e-2, "reduce_scatter");
  });
}

}  // namespace

TEMPLATE_TEST_CASE("every rank gets the reduction of every type", "", float, double, Half, BFloat16, std::int32_t, std::int64_t,
                   std::uint8_t) {
  fresh_gpu();
  for (const int ranks : {1, 2, 3, 4})
    for (const std::size_t count : {0, 1, 3, 1000}) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) reduce_everywhere<TestType>(ranks, count, op);
      if constexpr (is_floating(dtype_of<TestType>)) reduce_everywhere<TestType>(ranks, count, ReduceOp::mean);
    }
  CHECK(FakeGpu::get().live == 0);
}

TEST_CASE("all_gather puts every rank's part in rank order, also in place") {
  fresh_gpu();
  for (const int ranks : {1, 2, 3, 4})
    run_ranks(ranks, [&](Communicator& comm) {
      std::vector<int> mine(5, 10 + comm.rank());
      std::vector<int> all(5 * static_cast<std::size_t>(ranks), -1);
      comm.all_gather(on_device(mine, comm.rank()), on_device(all, comm.rank())).synchronize();
      for (std::size_t i = 0; i < all.size(); ++i) demand(all[i] == 10 + static_cast<int>(i) / 5, "gathered");

      Buffer whole = on_device(all, comm.rank());
      Buffer own = whole;
      own.count = 5;
      own.data = all.data() + 5 * comm.rank();
      std::fill_n(all.begin() + 5 * comm.rank(), 5, 20 + comm.rank());
      comm.all_gather(own, whole).synchronize();
      for (std::size_t i = 0; i < all.size(); ++i) demand(all[i] == 20 + static_cast<int>(i) / 5, "gathered in place");
    });
}

TEST_CASE("broadcast gives every rank the root's data") {
  fresh_gpu();
  for (int root = 0; root < 3; ++root)
    run_ranks(3, [&](Communicator& comm) {
      std::vector<double> data(9, comm.rank() + 1);
      comm.broadcast(on_device(data, comm.rank()), root).synchronize();
      demand(data == std::vector<double>(9, root + 1), "broadcast");
    });
}

TEST_CASE("a barrier and many operations in a row leave nothing behind") {
  FakeGpu& gpu = fresh_gpu();
  run_ranks(4, [](Communicator& comm) {
    std::vector<float> data(64, 1.0F);
    for (int i = 0; i < 20; ++i) {
      comm.all_reduce(on_device(data, comm.rank()), ReduceOp::mean).synchronize();
      comm.barrier();
    }
    demand(data == std::vector<float>(64, 1.0F), "mean of ones");
  });
  CHECK(gpu.live == 0);
  CHECK(gpu.destroys == 4);
  CHECK(gpu.aborts == 0);
}

TEST_CASE("split numbers the ranks of a colour by key, then by rank") {
  fresh_gpu();
  run_ranks(4, [](Communicator& comm) {
    const auto child = comm.split(comm.rank() % 2, -comm.rank());
    demand(child->world_size() == 2, "two ranks each");
    demand(child->rank() == (comm.rank() >= 2 ? 0 : 1), "by key");
    std::vector<std::int64_t> data{comm.rank()};
    child->all_reduce(on_device(data, comm.rank()), ReduceOp::sum).synchronize();
    demand(data[0] == (comm.rank() % 2 == 0 ? 2 : 4), "sum within the colour");
    demand(child->topology().local_size == 2 && child->topology().node_count == 1, "topology");
  });
  CHECK(FakeGpu::get().live == 0);
}

TEST_CASE("a rank with a negative colour gets no communicator") {
  fresh_gpu();
  run_ranks(3, [](Communicator& comm) {
    const auto child = comm.split(comm.rank() == 1 ? -1 : 7, 0);
    demand((child == nullptr) == (comm.rank() == 1), "negative colour");
    if (child) child->barrier();
  });
  CHECK(FakeGpu::get().live == 0);
}

TEST_CASE("a split child outlives its parent") {
  fresh_gpu();
  auto parent = lone_rank();
  const auto child = parent->split(0, 0);
  parent.reset();
  std::vector<float> data{3};
  child->all_reduce(on_device(data, 0), ReduceOp::sum).synchronize();
  CHECK(data[0] == 3);
}

TEST_CASE("allocated memory has the same number on all ranks and is registered") {
  FakeGpu& gpu = fresh_gpu();
  run_ranks(2, [&](Communicator& comm) {
    const Memory first = comm.allocate(100);
    const Memory second = comm.allocate(1 << 16);
    demand(first.id() == 1 && second.id() == 2 && second.size() == 1 << 16, "ids");
    demand(first.device().type == Device::Type::cuda && first.device().index == comm.rank(), "device");
    Buffer data = Buffer::in(second, 256, 8, DType::float32);
    std::fill_n(static_cast<float*>(data.data), 8, 2.0F);
    comm.all_reduce(data, ReduceOp::sum).synchronize();
    demand(*static_cast<float*>(data.data) == 4.0F, "sum");
    const std::lock_guard lock(gpu.mutex);
    demand(gpu.registrations >= 2 && gpu.windows >= 2, "registered");
  });
  CHECK(gpu.count("ncclCommWindowRegister") == 4);
  CHECK(gpu.registrations == 0);
  CHECK(gpu.windows == 0);
  CHECK(gpu.live == 0);
}

TEST_CASE("a rank alone has nobody to share its memory with") {
  FakeGpu& gpu = fresh_gpu();
  const Memory memory = lone_rank()->allocate(64);
  CHECK(gpu.count("ncclCommWindowRegister") == 0);
}

TEST_CASE("memory outlives its communicator") {
  FakeGpu& gpu = fresh_gpu();
  Memory memory;
  {
    const auto comm = lone_rank();
    memory = comm->allocate(64);
  }
  std::fill_n(memory.data(), 64, std::byte{1});
  CHECK(gpu.destroys == 1);
  memory = Memory();
  CHECK(gpu.live == 0);
}

TEST_CASE("a block of no bytes is legal") {
  fresh_gpu();
  const auto comm = lone_rank();
  const Memory memory = comm->allocate(0);
  CHECK(memory.size() == 0);
  CHECK(memory.data() == nullptr);
}

TEST_CASE("elements on another device are refused by name") {
  fresh_gpu();
  const auto comm = lone_rank();
  std::vector<float> data(4);
  CHECK(message_of_throw([&] { (void)comm->all_reduce(on_device(data, 3), ReduceOp::sum, "bucket 4"); }) ==
        "rank 0: all_reduce #0 (bucket 4), 16 bytes: the elements lie on cuda:3, but this communicator works on cuda:0");
  CHECK_THROWS_AS((void)comm->all_reduce(Buffer{std::span<float>(data)}, ReduceOp::sum), UsageError);
}

TEST_CASE("input and output on different streams are refused") {
  fresh_gpu();
  const CallerStream one;
  const CallerStream other;
  const auto comm = lone_rank();
  std::vector<float> in(4);
  std::vector<float> out(4);
  CHECK_THROWS_AS((void)comm->all_gather(on_device(in, 0, one.get()), on_device(out, 0, other.get())), UsageError);
}

TEST_CASE("two ranks on one device are refused on both, with a hint") {
  FakeGpu& gpu = fresh_gpu();
  gpu.behaviour.shared_bus_ids = 2;
  const auto errors = try_ranks(4, [](Communicator&) {});
  for (const auto& error : errors) {
    CHECK_THAT(message_of(error), Catch::Contains("ranks 0 and 1 both use GPU 0000:00:00.0"));
    CHECK_THAT(message_of(error), Catch::Contains("CUDA_VISIBLE_DEVICES"));
  }
  CHECK(gpu.live == 0);
}

TEST_CASE("a rank without its device is named on all ranks") {
  FakeGpu& gpu = fresh_gpu();
  gpu.behaviour.devices = 2;
  for (const auto& error : try_ranks(3, [](Communicator&) {})) {
    CHECK_THAT(message_of(error), Catch::Contains("rank 2 on "));
    CHECK_THAT(message_of(error), Catch::Contains("cudaSetDevice(2) failed: invalid device ordinal"));
  }
  CHECK(gpu.live == 0);
}

TEST_CASE("a communicator that needs a while to stand is waited for") {
  FakeGpu& gpu = fresh_gpu();
  gpu.behaviour.polls_in_progress = 5;
  gpu.behaviour.collectives_take_time = true;
  run_ranks(3, [](Communicator& comm) {
    std::vector<float> data{1};
    comm.all_reduce(on_device(data, comm.rank()), ReduceOp::sum).synchronize();
    demand(data[0] == 3, "sum");
    comm.split(0, 0)->barrier();
  });
  CHECK(gpu.live == 0);
  CHECK(gpu.aborts == 0);
}
