// mpirun -np 2 build/examples/all_reduce
// expect: the numbers from 1 to 1000 add up to 500500, their squares to 333833500
//
// An all-reduce by hand, without LibTorch: each rank adds up its share, and afterwards every rank has the whole.
#include <array>
#include <cstdio>
#include <span>

#include "ddpkit/comm/make_communicator.hpp"

int main() {
  const auto comm = ddpkit::make_communicator();  // all ranks that mpirun started, or this process alone

  std::array<double, 2> sums{};
  for (int number = 1 + comm->rank(); number <= 1000; number += comm->world_size()) {
    sums[0] += number;
    sums[1] += number * number;
  }
  std::printf("rank %d of %d: its share adds up to %.0f\n", comm->rank(), comm->world_size(), sums[0]);

  // Every rank issues the operation; it runs while this one does something else, until wait() has returned.
  const ddpkit::Work work = comm->all_reduce(std::span<double>(sums), ddpkit::ReduceOp::sum);
  work.wait();

  if (comm->rank() == 0) std::printf("the numbers from 1 to 1000 add up to %.0f, their squares to %.0f\n", sums[0], sums[1]);
}
