#include "support/comm_conformance.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "comm/element.hpp"
#include "ddpkit/comm/agree.hpp"
#include "support/comm_values.hpp"

namespace ddpkit::testing {
namespace {

constexpr std::array kAllTypes = {DType::float32, DType::float64, DType::float16, DType::bfloat16,
                                  DType::int32,   DType::int64,   DType::uint8};
constexpr std::array<std::size_t, 5> kCounts = {0, 1, 7, 64, 1001};
constexpr std::size_t kLarge = 300'007;  // more than any backend stages at once

template <class Body>
void for_each_type(Body body) {
  for (const DType dtype : kAllTypes) with_element(dtype, body);
}

template <class T, class Body>
void for_each_op(Body body) {
  for (const ReduceOp op : kAllOps)
    if (op != ReduceOp::mean || is_floating(dtype_of<T>)) body(op);
}

std::size_t ranks_of(const Communicator& comm) {
  return static_cast<std::size_t>(comm.world_size());
}

template <class T>
void check_all_reduce(Communicator& comm, std::size_t count, ReduceOp op) {
  auto data = values_of<T>(comm.rank(), count);
  comm.all_reduce(std::span(data), op, "conformance").wait();
  require_values(comm, text("all_reduce ", name_of(op)), data,
                 [&](std::size_t i) { return combined_at<T>(comm.world_size(), i, op); });
}

void all_reduce_combines(Communicator& comm) {
  for_each_type([&]<class T>() {
    for (const std::size_t count : kCounts) for_each_op<T>([&](ReduceOp op) { check_all_reduce<T>(comm, count, op); });
  });
}

void large_counts_work(Communicator& comm) {
  check_all_reduce<float>(comm, kLarge, ReduceOp::mean);
  check_all_reduce<BFloat16>(comm, kLarge, ReduceOp::mean);
  check_all_reduce<std::int64_t>(comm, kLarge, ReduceOp::max);
}

template <class T>
void check_reduce_scatter(Communicator& comm, std::size_t count, ReduceOp op) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto expected = [&](std::size_t i) { return combined_at<T>(comm.world_size(), rank * count + i, op); };
  auto whole = values_of<T>(comm.rank(), count * ranks_of(comm));
  std::vector<T> part(count);
  comm.reduce_scatter(std::span<const T>(whole), std::span(part), op).wait();
  require_values(comm, text("reduce_scatter ", name_of(op)), part, expected);
  const std::span<T> own = std::span(whole).subspan(rank * count, count);
  comm.reduce_scatter(std::span<const T>(whole), own, op).wait();
  require_values(comm, text("reduce_scatter in place ", name_of(op)), std::vector<T>(own.begin(), own.end()), expected);
}

void reduce_scatter_leaves_parts(Communicator& comm) {
  for_each_type([&]<class T>() {
    for (const std::size_t count : kCounts) for_each_op<T>([&](ReduceOp op) { check_reduce_scatter<T>(comm, count, op); });
  });
  check_reduce_scatter<Half>(comm, kLarge, ReduceOp::sum);
  check_reduce_scatter<float>(comm, kLarge, ReduceOp::sum);
}

template <class T>
void check_all_gather(Communicator& comm, std::size_t count) {
  const auto expected = [&](std::size_t i) { return value_at<T>(static_cast<int>(i / count), i % count); };
  const auto mine = values_of<T>(comm.rank(), count);
  std::vector<T> whole(count * ranks_of(comm));
  comm.all_gather(std::span<const T>(mine), std::span(whole)).wait();
  require_values(comm, "all_gather", whole, expected);
  std::vector<T> in_place(whole.size());
  const std::span<T> own = std::span(in_place).subspan(static_cast<std::size_t>(comm.rank()) * count, count);
  std::copy(mine.begin(), mine.end(), own.begin());
  comm.all_gather(std::span<const T>(own), std::span(in_place)).wait();
  require_values(comm, "all_gather in place", in_place, expected);
}

void all_gather_joins_parts(Communicator& comm) {
  for_each_type([&]<class T>() {
    for (const std::size_t count : kCounts) check_all_gather<T>(comm, count);
  });
  check_all_gather<double>(comm, kLarge);
}

template <class T>
void check_broadcast(Communicator& comm, std::size_t count, int root) {
  auto data = values_of<T>(comm.rank(), count);
  comm.broadcast(std::span(data), root).wait();
  require_values(comm, text("broadcast from ", root), data, [&](std::size_t i) { return value_at<T>(root, i); });
}

void broadcast_sends_the_roots(Communicator& comm) {
  for_each_type([&]<class T>() {
    for (const std::size_t count : kCounts)
      for (int root = 0; root < comm.world_size(); ++root) check_broadcast<T>(comm, count, root);
  });
  check_broadcast<std::int32_t>(comm, kLarge, comm.world_size() - 1);
}

template <class T>
double reduce_one(Communicator& comm, double mine, ReduceOp op) {
  std::vector<T> data(3, encode<T>(mine));
  comm.all_reduce(std::span(data), op).wait();
  return decode(data[1]);
}

void half_is_summed_in_float(Communicator& comm) {
  const int ranks = comm.world_size();
  const bool odd_rank = comm.rank() % 2 == 1;
  const double balance = reduce_one<Half>(comm, odd_rank ? -65504 : 65504, ReduceOp::sum);
  require_that(comm, balance == (ranks % 2 == 1 ? 65504 : 0), text("largest halves of both signs add up to ", balance));
  const double mean = reduce_one<Half>(comm, 40000, ReduceOp::mean);
  require_that(comm, mean == 40000, text("the mean of halves of 40000 is ", mean));
  const double lost = reduce_one<Half>(comm, comm.rank() == 0 ? 2048 : 1, ReduceOp::sum);  // 2048 + 1 is 2048 in half
  const double kept = decode(encode<Half>(2048 + ranks - 1));
  require_that(comm, lost == kept, text("2048 and small halves add up to ", lost, ", rounded once it is ", kept));
  const double coarse = reduce_one<BFloat16>(comm, comm.rank() == 0 ? 256 : 1, ReduceOp::sum);
  const double once = decode(encode<BFloat16>(256 + ranks - 1));
  require_that(comm, coarse == once, text("256 and small bfloat16 add up to ", coarse, ", rounded once it is ", once));
}

void integers_are_64_bits_wide(Communicator& comm) {
  const std::int64_t base = std::int64_t(1) << 53;
  std::vector<std::int64_t> data(5, base + comm.rank());
  comm.all_reduce(std::span(data), ReduceOp::sum).wait();
  const std::int64_t ranks = comm.world_size();
  const std::int64_t expected = ranks * base + ranks * (ranks - 1) / 2;
  require_that(comm, data == std::vector<std::int64_t>(5, expected), text("the sum of large int64 is ", data[0]));
}

void all_ranks_get_the_same_bits(Communicator& comm) {
  std::mt19937 random(static_cast<unsigned>(17 + comm.rank()));
  std::normal_distribution<float> normal;
  std::vector<float> data(4099);
  for (float& value : data) value = normal(random);
  comm.all_reduce(std::span(data), ReduceOp::mean).wait();
  const std::string bits(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(float));
  for (const std::string& other : gather_texts(comm, bits)) require_that(comm, other == bits, "ranks hold different bits");
}

void operations_run_in_the_order_issued(Communicator& comm) {
  constexpr int kInFlight = 200;
  std::vector<std::int64_t> chain{comm.rank() + 1};
  std::vector<std::vector<float>> separate;
  for (int i = 0; i < kInFlight; ++i) separate.push_back(std::vector<float>(17, static_cast<float>(comm.rank() + i)));
  std::vector<Work> works;
  for (int i = 0; i < kInFlight; ++i) {
    works.push_back(comm.all_reduce(std::span(separate[static_cast<std::size_t>(i)]), ReduceOp::max, "separate"));
    works.push_back(i % 2 == 0 ? comm.broadcast(std::span(chain), i % comm.world_size(), "chain")
                               : comm.all_reduce(std::span(chain), ReduceOp::max, "chain"));
  }
  for (auto work = works.rbegin(); work != works.rend(); ++work) work->wait();
  require_that(comm, chain[0] == 1, text("a chain that begins with rank 0's broadcast ends with ", chain[0]));
  for (int i = 0; i < kInFlight; ++i)
    require_that(comm, separate[static_cast<std::size_t>(i)][16] == static_cast<float>(comm.world_size() - 1 + i), "order");
}

void dropped_work_still_happens(Communicator& comm) {
  auto data = values_of<float>(comm.rank(), 100);
  static_cast<void>(comm.all_reduce(std::span(data), ReduceOp::sum));
  comm.barrier();
  require_values(comm, "dropped all_reduce", data,
                 [&](std::size_t i) { return combined_at<float>(comm.world_size(), i, ReduceOp::sum); });
}

void memory_is_held_until_done(Communicator& comm) {
  auto owner = std::make_shared<std::vector<float>>(64, 1.0F);
  const std::weak_ptr<std::vector<float>> watch = owner;
  Buffer buffer{std::span(*owner)};
  buffer.keep_alive = std::move(owner);
  const Work work = comm.all_reduce(std::exchange(buffer, {}), ReduceOp::sum);
  work.synchronize();
  require_that(comm, work.done(), "work is not done after synchronize");
  comm.barrier();  // the last rank out lets go
  require_that(comm, watch.expired(), "memory is held after the operation is done");
}

void allocated_memory_reduces(Communicator& comm) {
  const Memory first = comm.allocate(1000);
  Memory second = comm.allocate(4096);
  require_that(comm, first.size() == 1000 && second.size() == 4096, "allocate gives the size asked for");
  require_that(comm, first.id() != second.id(), "allocations have ids of their own");
  const auto id = static_cast<std::int64_t>(second.id());
  require_that(comm, agree_min(comm, id) == id && agree_max(comm, id) == id, "ids are equal on all ranks");
  require_that(comm, reinterpret_cast<std::uintptr_t>(second.data()) % 64 == 0, "memory is aligned to cache lines");
  const Buffer buffer = Buffer::in(second, 256, 100, DType::float32);
  const auto mine = values_of<float>(comm.rank(), 100);
  std::copy(mine.begin(), mine.end(), static_cast<float*>(buffer.data));
  second = {};  // the buffer holds it
  comm.all_reduce(buffer, ReduceOp::sum).wait();
  const auto* sums = static_cast<const float*>(buffer.data);
  require_values(comm, "all_reduce in allocated memory", std::vector<float>(sums, sums + 100),
                 [&](std::size_t i) { return combined_at<float>(comm.world_size(), i, ReduceOp::sum); });
  comm.allocate(0);
}

// As many as no backend copies through a small buffer, in memory that it may use where it lies.
constexpr std::size_t kInPlace = 20'011;

template <class T>
Buffer in_memory(const Memory& memory, std::size_t first, std::size_t count) {
  return Buffer::in(memory, first * sizeof(T), count, dtype_of<T>);
}

template <class T>
void require_in_memory(Communicator& comm, const std::string& what, const Buffer& data, auto expected) {
  const auto* elements = static_cast<const T*>(data.data);
  require_values(comm, what, std::vector<T>(elements, elements + data.count), expected);
}

template <class T>
void fill(const Buffer& data, int rank) {
  std::ranges::copy(values_of<T>(rank, data.count), static_cast<T*>(data.data));
}

template <class T>
void check_reductions_in(Communicator& comm, const Memory& memory) {
  const Buffer data = in_memory<T>(memory, 1, kInPlace);
  for_each_op<T>([&](ReduceOp op) {
    fill<T>(data, comm.rank());
    comm.all_reduce(data, op).wait();
    require_in_memory<T>(comm, text("all_reduce in place ", name_of(op)), data,
                         [&](std::size_t i) { return combined_at<T>(comm.world_size(), i, op); });
  });
}

template <class T>
void check_scatter_and_gather_in(Communicator& comm, const Memory& memory) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  const Buffer whole = in_memory<T>(memory, 0, kInPlace * ranks_of(comm));
  const Buffer own = in_memory<T>(memory, rank * kInPlace, kInPlace);
  const auto combined = [&](std::size_t i) { return combined_at<T>(comm.world_size(), i, ReduceOp::sum); };
  fill<T>(whole, comm.rank());
  const Work scattered = comm.reduce_scatter(whole, own, ReduceOp::sum);  // behind it, on the same elements:
  comm.all_gather(own, whole).wait();
  require_in_memory<T>(comm, "reduce_scatter and all_gather in place", whole, combined);
  require_that(comm, scattered.done(), "what comes before is done before");
}

void allocated_memory_serves_every_collective(Communicator& comm) {
  const Memory memory = comm.allocate(kInPlace * ranks_of(comm) * sizeof(double) + 64);
  for_each_type([&]<class T>() {
    check_reductions_in<T>(comm, memory);
    check_scatter_and_gather_in<T>(comm, memory);
    for (int root = 0; root < comm.world_size(); ++root) {
      const Buffer data = in_memory<T>(memory, 3, kInPlace);
      fill<T>(data, comm.rank());
      comm.broadcast(data, root).wait();
      require_in_memory<T>(comm, text("broadcast in place from ", root), data,
                           [&](std::size_t i) { return value_at<T>(root, i); });
    }
  });
}

void memory_may_begin_anywhere(Communicator& comm) {
  const Memory memory = comm.allocate(kInPlace * sizeof(float) + 1);
  const Buffer data = Buffer::in(memory, 1, kInPlace, DType::float32);
  std::memset(data.data, 0, data.bytes());
  comm.all_reduce(data, ReduceOp::sum).wait();
  const auto* bytes = static_cast<const unsigned char*>(data.data);
  require_that(comm, std::all_of(bytes, bytes + data.bytes(), [](unsigned char byte) { return byte == 0; }),
               "zeros at an odd address add up to zero");
}

void split_groups_by_color_and_key(Communicator& comm) {
  const int color = comm.rank() % 2;
  const auto half = comm.split(color, -comm.rank());
  const int members = (comm.world_size() + 1 - color) / 2;
  require_that(comm, half->world_size() == members, "a split has the ranks of one colour");
  require_that(comm, half->rank() == members - 1 - comm.rank() / 2, "a split numbers by key");
  for (int i = 0; i < 5; ++i) {  // both are used alternately, from one thread
    std::vector<std::int64_t> both{1}, part{1};
    const Work whole = comm.all_reduce(std::span(both), ReduceOp::sum);
    half->all_reduce(std::span(part), ReduceOp::sum).wait();
    whole.wait();
    require_that(comm, both[0] == comm.world_size() && part[0] == members, "sums over a group and over all");
  }
  const auto copy = comm.split(0, comm.rank());
  require_that(comm, copy->rank() == comm.rank(), "a duplicate keeps the ranks");
  require_that(comm, comm.split(comm.rank() == 0 ? 0 : -1, 0) != nullptr || comm.rank() > 0, "a negative colour gets none");
}

void topology_adds_up(Communicator& comm) {
  const Topology& here = comm.topology();
  require_that(comm, here.rank >= 0 && here.rank < here.world_size, "rank lies within the world");
  require_that(comm, here.local_rank >= 0 && here.local_rank < here.local_size, "local rank lies within the node");
  require_that(comm, here.node >= 0 && here.node < here.node_count, "node lies within the nodes");
  std::int64_t leaders = here.local_rank == 0 ? 1 : 0;
  comm.all_reduce(std::span(&leaders, 1), ReduceOp::sum).wait();
  require_that(comm, leaders == here.node_count, "one rank per node is its first");
  require_that(comm, !here.host.empty(), "the node has a name");
}

template <class Call>
void require_usage_error(Communicator& comm, std::string_view what, std::string_view word, Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    const bool named = std::string_view(error.what()).find(word) != std::string_view::npos;
    return require_that(comm, named, text(what, ": the message does not say '", word, "': ", error.what()));
  }
  require_that(comm, false, text(what, " is accepted"));
}

void misuse_is_refused_before_anything_is_sent(Communicator& comm) {
  std::vector<float> part(4), whole(4 * ranks_of(comm) + 1);
  std::vector<std::int32_t> integers(4);
  Buffer nowhere{std::span(part)}, elsewhere{std::span(part)};
  nowhere.data = nullptr;
  elsewhere.device.type = Device::Type::cuda;
  require_usage_error(comm, "a wrong count", "expected",
                      [&] { static_cast<void>(comm.all_gather(std::span<const float>(part), std::span(whole))); });
  require_usage_error(comm, "another type", "differ", [&] {
    static_cast<void>(comm.reduce_scatter(std::span<const float>(whole), std::span(integers), ReduceOp::sum));
  });
  require_usage_error(comm, "null", "null", [&] { static_cast<void>(comm.all_reduce(nowhere, ReduceOp::sum)); });
  require_usage_error(comm, "a CUDA buffer", "cuda", [&] { static_cast<void>(comm.all_reduce(elsewhere, ReduceOp::sum)); });
  require_usage_error(comm, "an integer mean", "mean",
                      [&] { static_cast<void>(comm.all_reduce(std::span(integers), ReduceOp::mean, "counts")); });
  for (const int root : {-1, comm.world_size()})
    require_usage_error(comm, "a root that is no rank", "no rank",
                        [&] { static_cast<void>(comm.broadcast(std::span(part), root)); });
  check_all_reduce<float>(comm, 5, ReduceOp::sum);  // and all goes on
}

constexpr std::array kClaims = {
    ConformanceClaim{"the topology adds up", topology_adds_up},
    ConformanceClaim{"all_reduce combines every type by every operation", all_reduce_combines},
    ConformanceClaim{"reduce_scatter leaves each rank its part, in place or not", reduce_scatter_leaves_parts},
    ConformanceClaim{"all_gather joins the parts in rank order, in place or not", all_gather_joins_parts},
    ConformanceClaim{"broadcast sends the root's elements, from every root", broadcast_sends_the_roots},
    ConformanceClaim{"large counts work", large_counts_work},
    ConformanceClaim{"16-bit floats are summed in float32 and rounded once", half_is_summed_in_float},
    ConformanceClaim{"integers are 64 bits wide", integers_are_64_bits_wide},
    ConformanceClaim{"all ranks get the same bits", all_ranks_get_the_same_bits},
    ConformanceClaim{"operations run in the order in which they were issued", operations_run_in_the_order_issued},
    ConformanceClaim{"an operation whose work was dropped still happens", dropped_work_still_happens},
    ConformanceClaim{"memory is held until the operation is done, and no longer", memory_is_held_until_done},
    ConformanceClaim{"allocated memory reduces like any other", allocated_memory_reduces},
    ConformanceClaim{"allocated memory serves every collective", allocated_memory_serves_every_collective},
    ConformanceClaim{"memory may begin anywhere", memory_may_begin_anywhere},
    ConformanceClaim{"split groups by colour and numbers by key", split_groups_by_color_and_key},
    ConformanceClaim{"misuse is refused before anything is sent", misuse_is_refused_before_anything_is_sent},
};

}  // namespace

std::span<const ConformanceClaim> conformance_claims() {
  return kClaims;
}

}  // namespace ddpkit::testing
