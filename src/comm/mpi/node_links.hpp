#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "ddpkit/base/dtype.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::mpi {

/// From a rank that owns a slice of what its node reduces to the owners of the same slice on the other nodes. As many ranks of
/// each node are owners as the smallest node has. Used by the communication thread.
class NodeLinks {
 public:
  /// `owners` are the owners of this rank's slice, one on each node; MPI_COMM_NULL on a rank that owns none. Freed by `close`.
  NodeLinks(MPI_Comm owners, std::size_t owners_per_node, int world_size)
      : comm_(owners), owners_per_node_(owners_per_node), world_size_(world_size) {}

  std::size_t owners() const noexcept { return owners_per_node_; }

  /// Combines `count` elements of all copies on this node, in order, then those of the nodes, and writes the result to all
  /// copies here. Piece by piece, in the type that sums are made in, rounded once. Throws CommError.
  void all_reduce(std::span<std::byte* const> copies, DType dtype, ReduceOp op, std::size_t count);

  /// Collective over the owners of the slice.
  void close();

 private:
  void reduce_piece(DType dtype, ReduceOp op, std::size_t count);

  MPI_Comm comm_;
  std::size_t owners_per_node_;
  int world_size_;
  std::vector<std::byte*> at_;      // where the copies' piece begins
  std::vector<std::byte> sum_;      // of this node, then of all
  std::vector<std::byte> widened_;  // one copy's piece
};

}  // namespace ddpkit::mpi
