// What is done in memory that the ranks of a node share, seen from outside.
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "ddpkit/comm/make_communicator.hpp"
#include "support/catch.hpp"
#include "support/heap_count.hpp"

using namespace ddpkit;

namespace {

constexpr CommOptions kOnNode{.backend = Backend::mpi, .timeout = std::chrono::seconds(20)};
constexpr std::size_t kMany = 100'000;  // elements: more than a mailbox holds

std::span<float> floats(const Memory& memory) {
  return {reinterpret_cast<float*>(memory.data()), memory.size() / sizeof(float)};
}

Buffer all_of(const Memory& memory) {
  return Buffer::in(memory, 0, memory.size() / sizeof(float), DType::float32);
}

void fill(const Memory& memory, float value) {
  std::ranges::fill(floats(memory), value);
}

float sum_of_ranks(const Communicator& comm) {
  return static_cast<float>(comm.world_size() * (comm.world_size() + 1)) / 2;
}

}  // namespace

TEST_CASE("many operations may be under way before anyone waits, in any order") {
  const auto comm = make_communicator(kOnNode);
  constexpr int kBuckets = 200;  // more than may be outstanding
  std::vector<Memory> buckets;
  std::vector<Work> works;
  for (int i = 0; i < kBuckets; ++i) {
    buckets.push_back(comm->allocate(20'000));
    fill(buckets.back(), static_cast<float>(comm->rank() + 1));
  }
  for (const Memory& bucket : buckets) works.push_back(comm->all_reduce(all_of(bucket), ReduceOp::sum));
  for (auto work = works.rbegin(); work != works.rend(); ++work) work->wait();
  for (const Memory& bucket : buckets) {
    REQUIRE(floats(bucket).front() == sum_of_ranks(*comm));
    REQUIRE(floats(bucket).back() == sum_of_ranks(*comm));
  }
}

TEST_CASE("a chain of operations on the same elements is done in the order issued, whichever way each goes") {
  const auto comm = make_communicator(kOnNode);
  const Memory memory = comm->allocate(kMany * sizeof(float));
  std::vector<float> elsewhere(kMany, 1);
  fill(memory, 1);
  const std::span<float> head = floats(memory).first(8);
  static_cast<void>(comm->all_reduce(all_of(memory), ReduceOp::sum));        // in place
  static_cast<void>(comm->all_reduce(head, ReduceOp::sum));                  // through a mailbox
  static_cast<void>(comm->all_reduce(std::span(elsewhere), ReduceOp::sum));  // through MPI
  static_cast<void>(comm->all_reduce(std::span(elsewhere).first(8), ReduceOp::sum));
  comm->all_reduce(all_of(memory), ReduceOp::sum).wait();
  comm->barrier();
  const auto ranks = static_cast<float>(comm->world_size());
  CHECK(head.front() == ranks * ranks * ranks);
  CHECK(floats(memory).back() == ranks * ranks);
  CHECK(elsewhere.front() == ranks * ranks);
  CHECK(elsewhere.back() == ranks);
}

TEST_CASE("each rank may use another place in what was allocated") {
  const auto comm = make_communicator(kOnNode);
  const auto ranks = static_cast<std::size_t>(comm->world_size());
  const auto rank = static_cast<std::size_t>(comm->rank());
  const Memory memory = comm->allocate(ranks * kMany * sizeof(float));
  fill(memory, 1);
  comm->all_reduce(Buffer::in(memory, rank * kMany * sizeof(float), kMany, DType::float32), ReduceOp::sum).wait();
  for (std::size_t i = 0; i < ranks; ++i)
    CHECK(floats(memory)[i * kMany + 5] == (i == rank ? static_cast<float>(ranks) : 1.0F));
}

TEST_CASE("a rank that waits elsewhere still does its part of what it has begun") {
  const auto first = make_communicator(kOnNode);
  const auto second = make_communicator(kOnNode);
  const Memory memory = first->allocate(kMany * sizeof(float));
  std::vector<float> large(kMany, 1);
  for (const bool through_mpi : {false, true}) {
    fill(memory, 1);
    const Work work = first->all_reduce(all_of(memory), ReduceOp::sum);
    if (first->rank() == 0) work.wait();  // needs the others, who do not wait for it
    if (through_mpi)
      second->all_reduce(std::span(large), ReduceOp::max).wait();
    else
      second->barrier();
    work.wait();
    CHECK(floats(memory)[kMany / 2] == static_cast<float>(first->world_size()));
  }
}

namespace {

struct PlainMpi {
  PlainMpi() { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }
  ~PlainMpi() { MPI_Comm_free(&comm); }
  MPI_Comm comm = MPI_COMM_NULL;
};

// The others are told by plain MPI, in which nobody does anything for a collective of ours.
void wait_as_rank_0_only(Communicator& comm, const Work& work, MPI_Comm plain) {
  if (comm.rank() == 0) work.wait();
  int done = 1;
  MPI_Bcast(&done, 1, MPI_INT, 0, plain);
}

CommOptions with(NodeProgress progress) {
  CommOptions options = kOnNode;
  options.progress = progress;
  return options;
}

}  // namespace

TEST_CASE("with a communication thread nobody else has to wait for a reduction to get done") {
  const PlainMpi plain;
  const auto comm = make_communicator(with(NodeProgress::thread));
  const Memory memory = comm->allocate(kMany * sizeof(float));
  for (int round = 0; round < 20; ++round) {
    fill(memory, 1);
    const Work work = comm->all_reduce(all_of(memory), ReduceOp::sum);
    wait_as_rank_0_only(*comm, work, plain.comm);
    work.wait();
    REQUIRE(floats(memory)[kMany - 1] == static_cast<float>(comm->world_size()));
  }
}

TEST_CASE("an eager rank does its part of an earlier reduction when it starts the next") {
  const PlainMpi plain;
  const auto comm = make_communicator(with(NodeProgress::eager));
  const Memory first = comm->allocate(kMany * sizeof(float));
  const Memory second = comm->allocate(kMany * sizeof(float));
  for (const Memory& memory : {first, second}) fill(memory, 1);
  const Work early = comm->all_reduce(all_of(first), ReduceOp::sum);
  MPI_Barrier(plain.comm);  // all have come
  const Work late = comm->all_reduce(all_of(second), ReduceOp::sum);
  wait_as_rank_0_only(*comm, early, plain.comm);
  late.wait();
  CHECK(floats(first)[7] == static_cast<float>(comm->world_size()));
  CHECK(floats(second)[7] == static_cast<float>(comm->world_size()));
}

TEST_CASE("asking whether it is done does this rank's part of a reduction") {
  const PlainMpi plain;
  const auto comm = make_communicator(kOnNode);
  const Memory memory = comm->allocate(kMany * sizeof(float));
  fill(memory, 1);
  const Work work = comm->all_reduce(all_of(memory), ReduceOp::sum);
  MPI_Barrier(plain.comm);
  static_cast<void>(work.done());
  wait_as_rank_0_only(*comm, work, plain.comm);
  work.wait();
  CHECK(floats(memory)[7] == static_cast<float>(comm->world_size()));
}

TEST_CASE("an operation on a node takes nothing from the heap once the first few have passed") {
  const NodeProgress progress = GENERATE(NodeProgress::caller, NodeProgress::eager, NodeProgress::thread);
  const auto comm = make_communicator(with(progress));
  const Memory memory = comm->allocate(kMany * sizeof(float));
  fill(memory, 0);
  float small[100] = {};
  const auto step = [&] {
    const Work large = comm->all_reduce(all_of(memory), ReduceOp::mean, "bucket 4, fc2.weight..fc3.bias");
    comm->all_reduce(std::span(small), ReduceOp::sum, "the ballot of a window").wait();
    large.wait();
    comm->barrier();
  };
  for (int i = 0; i < 100; ++i) step();
  const std::size_t before = testing::heap_count();
  for (int i = 0; i < 100; ++i) step();
  CHECK(testing::heap_count() == before);
}

TEST_CASE("the bits of a sum are those of MPI on two ranks, in any cut") {
  const auto comm = make_communicator(kOnNode);
  if (comm->world_size() > 2) return;  // MPI may add three in another order
  const Memory whole = comm->allocate(kMany * sizeof(float));
  const Memory pieces = comm->allocate(kMany * sizeof(float));
  std::vector<float> through_mpi(kMany);
  for (std::size_t i = 0; i < kMany; ++i)
    through_mpi[i] = 1.0F / static_cast<float>(1 + 7 * i + static_cast<std::size_t>(comm->rank()));
  for (const Memory& memory : {whole, pieces}) std::ranges::copy(through_mpi, floats(memory).begin());
  comm->all_reduce(std::span(through_mpi), ReduceOp::sum).wait();
  comm->all_reduce(all_of(whole), ReduceOp::sum).wait();
  for (std::size_t first = 0; first < kMany; first += 9'001) {
    const std::size_t count = std::min<std::size_t>(9'001, kMany - first);
    comm->all_reduce(Buffer::in(pieces, first * sizeof(float), count, DType::float32), ReduceOp::sum).wait();
  }
  CHECK(std::ranges::equal(floats(whole), through_mpi));
  CHECK(std::ranges::equal(floats(pieces), through_mpi));
}

TEST_CASE("memory outlives its communicator, and freeing it is nobody else's business") {
  Memory memory;
  {
    const auto comm = make_communicator(kOnNode);
    memory = comm->allocate(4096);
    if (comm->rank() == 0) comm->allocate(4096);  // collective all the same: the others below
    if (comm->rank() != 0) static_cast<void>(comm->allocate(4096));
    fill(memory, static_cast<float>(comm->rank()));
    comm->all_reduce(all_of(memory), ReduceOp::max).wait();
    CHECK(floats(memory)[17] == static_cast<float>(comm->world_size() - 1));
  }
  fill(memory, 3);
  CHECK(floats(memory)[17] == 3);
}
