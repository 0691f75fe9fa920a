// exit_paths <case>: one way for a job to end, to be run under mpirun. Statuses and messages are checked by
// tests/support/expect.py.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "ddpkit/comm/make_communicator.hpp"

namespace {

using namespace ddpkit;

const CommOptions kImpatient{.timeout = std::chrono::milliseconds(700)};

Work sum(Communicator& comm, std::vector<float>& data) {
  return comm.all_reduce(std::span(data), ReduceOp::sum, "bucket 4, fc2.weight");
}

// Stands for a rank that is stuck in the program's own code until the job is ended from outside.
void stuck() {
  for (;;) pause();
}

void normal() {
  const auto control = make_communicator();
  const auto data = make_data_communicator(*control, {});
  std::vector<float> values(10, 1.0F);
  sum(*data, values).wait();
  control->barrier();
}

void never_used() {
  const auto comm = make_communicator();
}

void early_return() {
  std::vector<float> values(1 << 20, 1.0F);
  const auto comm = make_communicator();
  for (int i = 0; i < 5; ++i) static_cast<void>(sum(*comm, values));
}

void exception_on_one_rank() {
  const auto comm = make_communicator();
  if (comm->rank() == 1) throw ConfigError("rank 1 read another file");
  comm->barrier();
}

void exception_while_in_flight() {
  std::vector<float> values(10, 1.0F);
  const auto comm = make_communicator();
  if (comm->rank() == 1) {
    static_cast<void>(sum(*comm, values));
    throw DataError("rank 1 cannot go on");
  }
  stuck();
}

void exception_on_all_ranks() {
  const auto comm = make_communicator();
  comm->barrier();
  throw ConfigError("no such option");
}

void abort_from_one_rank() {
  const auto comm = make_communicator();
  if (comm->rank() == 1) comm->abort(StorageError("disk is full"));
  comm->barrier();
}

void abort_while_stuck() {
  std::vector<float> values(10, 1.0F);
  const auto comm = make_communicator();
  if (comm->rank() != 0) stuck();
  static_cast<void>(sum(*comm, values));
  comm->abort(DataError("rank 0 gives up"));
}

void abort_without_status() {
  const auto comm = make_communicator();
  comm->abort(Error("status ok is no way to abort", ExitStatus::ok));
}

void one_rank_does_not_come() {
  std::vector<float> values(1000, 1.0F);
  const auto comm = make_communicator(kImpatient);
  comm->barrier();
  if (comm->rank() == comm->world_size() - 1) stuck();
  try {
    sum(*comm, values).wait();
  } catch (const CommError& error) {
    try {
      comm->barrier();
    } catch (const CommError&) {
      std::cerr << "later calls are refused\n";
    }
    comm->abort(error);
  }
}

void one_rank_is_in_another_communicator() {
  std::vector<float> values(1000, 1.0F);
  const auto comm = make_communicator(kImpatient);
  const auto other = comm->split(0, comm->rank());
  Communicator& mine = comm->rank() == 0 ? *comm : *other;
  try {
    sum(mine, values).wait();
  } catch (const CommError& error) {
    comm->abort(error);
  }
}

void one_rank_calls_something_else() {
  std::vector<float> values(1000, 1.0F);
  const auto comm = make_communicator();
  comm->barrier();
  try {
    if (comm->rank() == 1) comm->broadcast(std::span(values), 0, "weights").wait();
    sum(*comm, values).wait();
  } catch (const CommError& error) {
    comm->abort(error);
  }
}

void one_rank_ends_early() {
  std::vector<float> values(1000, 1.0F);
  auto comm = make_communicator(kImpatient);
  const auto rest = comm->split(0, comm->rank());
  if (comm->rank() == 1) comm.reset();
  rest->barrier();
  if (!comm) stuck();
  try {
    sum(*comm, values).wait();
  } catch (const CommError& error) {
    comm->abort(error);
  }
}

constexpr std::size_t kInPlace = 100'000;  // elements: more than is copied through small buffers

Buffer all_of(const Memory& memory) {
  return Buffer::in(memory, 0, memory.size() / sizeof(float), DType::float32);
}

void wait_or_abort(Communicator& comm, const Buffer& data) {
  try {
    comm.all_reduce(data, ReduceOp::sum, "bucket 4, fc2.weight").wait();
  } catch (const CommError& error) {
    comm.abort(error);
  }
}

// The last rank has published its data and owns a part of the result when it stops.
void one_rank_stops_inside_a_reduction_in_place() {
  const auto comm = make_communicator(kImpatient);
  const Memory memory = comm->allocate(kInPlace * sizeof(float));
  if (comm->rank() == comm->world_size() - 1) {
    static_cast<void>(comm->all_reduce(all_of(memory), ReduceOp::sum));
    stuck();
  }
  wait_or_abort(*comm, all_of(memory));
}

void one_rank_is_killed_inside_a_reduction_in_place() {
  const auto comm = make_communicator();
  const Memory memory = comm->allocate(kInPlace * sizeof(float));
  if (comm->rank() == 1) {
    static_cast<void>(comm->all_reduce(all_of(memory), ReduceOp::sum));
    raise(SIGKILL);
  }
  wait_or_abort(*comm, all_of(memory));
}

void one_rank_passes_memory_of_its_own() {
  std::vector<float> own(kInPlace, 1.0F);
  const auto comm = make_communicator();
  const Memory memory = comm->allocate(kInPlace * sizeof(float));
  wait_or_abort(*comm, comm->rank() == 1 ? Buffer(std::span(own)) : all_of(memory));
  stuck();
}

void one_rank_passes_another_allocation() {
  const auto comm = make_communicator();
  const Memory first = comm->allocate(kInPlace * sizeof(float));
  const Memory second = comm->allocate(kInPlace * sizeof(float));
  wait_or_abort(*comm, all_of(comm->rank() == 1 ? second : first));
  stuck();
}

void one_rank_allocates_less() {
  const auto comm = make_communicator();
  try {
    const Memory memory = comm->allocate(comm->rank() == 1 ? 1000 : 4000);
  } catch (const CommError& error) {
    comm->abort(error);
  }
}

void one_rank_reduces_otherwise() {
  const auto comm = make_communicator();
  const Memory memory = comm->allocate(kInPlace * sizeof(float));
  try {
    comm->all_reduce(all_of(memory), comm->rank() == 1 ? ReduceOp::max : ReduceOp::sum).wait();
  } catch (const CommError& error) {
    comm->abort(error);
  }
  stuck();
}

void settings_of_open_mpi() {
  const auto comm = make_communicator();
  const char* yields = std::getenv("OMPI_MCA_mpi_yield_when_idle");
  std::cerr << "yields when idle: " << (yields == nullptr ? "not said" : yields) << "\n";
}

const std::map<std::string, void (*)()> kCases = {
    {"normal", normal},
    {"never_used", never_used},
    {"early_return", early_return},
    {"exception_on_one_rank", exception_on_one_rank},
    {"exception_while_in_flight", exception_while_in_flight},
    {"exception_on_all_ranks", exception_on_all_ranks},
    {"abort_from_one_rank", abort_from_one_rank},
    {"abort_while_stuck", abort_while_stuck},
    {"abort_without_status", abort_without_status},
    {"one_rank_does_not_come", one_rank_does_not_come},
    {"one_rank_is_in_another_communicator", one_rank_is_in_another_communicator},
    {"one_rank_calls_something_else", one_rank_calls_something_else},
    {"one_rank_ends_early", one_rank_ends_early},
    {"one_rank_stops_inside_a_reduction_in_place", one_rank_stops_inside_a_reduction_in_place},
    {"one_rank_is_killed_inside_a_reduction_in_place", one_rank_is_killed_inside_a_reduction_in_place},
    {"one_rank_passes_memory_of_its_own", one_rank_passes_memory_of_its_own},
    {"one_rank_passes_another_allocation", one_rank_passes_another_allocation},
    {"one_rank_allocates_less", one_rank_allocates_less},
    {"one_rank_reduces_otherwise", one_rank_reduces_otherwise},
    {"settings_of_open_mpi", settings_of_open_mpi},
};

}  // namespace

int main(int argc, char** argv) {
  try {
    kCases.at(argc > 1 ? argv[1] : "")();
    return 0;
  } catch (const ddpkit::Error& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.status());
  }
}
