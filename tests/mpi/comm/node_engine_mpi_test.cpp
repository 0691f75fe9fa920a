// What is done in memory that the ranks of a node share, seen from outside.
#include <vector>

#include "ddpkit/comm/make_communicator.hpp"
#include "support/catch.hpp"

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
