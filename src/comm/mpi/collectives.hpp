#pragma once

#include "comm/mpi/channel.hpp"
#include "ddpkit/comm/buffer.hpp"
#include "ddpkit/comm/communicator.hpp"

// The collectives as blocking MPI calls: counts cut to what an int and the chunk limit allow, 16-bit floats carried as float32
// and rounded once. Run on the communication thread. Throw CommError.

namespace ddpkit::mpi {

void all_reduce(Channel& channel, const Buffer& data, ReduceOp op);
void reduce_scatter(Channel& channel, const ConstBuffer& in, const Buffer& out, ReduceOp op);
void all_gather(Channel& channel, const ConstBuffer& in, const Buffer& out);
void broadcast(Channel& channel, const Buffer& data, int root);
void barrier(Channel& channel);

/// An all-reduce in place of elements of a type that sums are made in, over a network: a long one leaves the core to others
/// while it waits. A mean is a sum: whoever calls divides.
void all_reduce_between_nodes(MPI_Comm comm, void* data, DType dtype, int count, ReduceOp op);

}  // namespace ddpkit::mpi
