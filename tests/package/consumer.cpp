// What a project that uses ddpkit looks like: every rank gives its number plus one, all get the sum.
#include <ATen/ATen.h>

#include <iostream>

#include <ddpkit/ddpkit.hpp>
#include <ddpkit/tensor/as_buffer.hpp>

int main() {
  const auto communicator = ddpkit::make_communicator();
  const auto& topology = communicator->topology();
  at::Tensor numbers = at::full({1000}, topology.rank + 1, at::kFloat);
  communicator->all_reduce(ddpkit::as_buffer(numbers), ddpkit::ReduceOp::sum).synchronize();
  const double expected = topology.world_size * (topology.world_size + 1) / 2.0;
  const bool right = (numbers == expected).all().item<bool>();
  if (topology.rank == 0) std::cout << "sum over " << topology.world_size << (right ? " ranks: right\n" : " ranks: wrong\n");
  return right ? 0 : 1;
}
