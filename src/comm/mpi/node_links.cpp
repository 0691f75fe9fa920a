#include "comm/mpi/node_links.hpp"

#include <algorithm>

#include "comm/element.hpp"
#include "comm/mpi/check.hpp"
#include "comm/mpi/collectives.hpp"
#include "comm/reduce_kernels.hpp"

namespace ddpkit::mpi {
namespace {

constexpr std::size_t kPiece = std::size_t(1) << 20;  // elements: far more than a message costs by itself, little to hold

}  // namespace

void NodeLinks::all_reduce(std::span<std::byte* const> copies, DType dtype, ReduceOp op, std::size_t count) {
  const DType wide = sum_type(dtype);
  sum_.resize(std::max(sum_.size(), std::min(count, kPiece) * size_of(wide)));
  at_.assign(copies.begin(), copies.end());
  for (std::size_t first = 0; first < count; first += kPiece) {
    const std::size_t length = std::min(kPiece, count - first);
    reduce_piece(dtype, op, length);
    all_reduce_between_nodes(comm_, sum_.data(), wide, static_cast<int>(length), op);
    if (op == ReduceOp::mean) divide(sum_.data(), wide, length, world_size_);
    for (std::byte*& copy : at_) {
      narrow(sum_.data(), dtype, length, copy);
      copy += length * size_of(dtype);
    }
  }
}

// The sum of the node, not rounded. A mean is a sum here.
void NodeLinks::reduce_piece(DType dtype, ReduceOp op, std::size_t count) {
  const ReduceOp step = op == ReduceOp::mean ? ReduceOp::sum : op;
  const DType wide = sum_type(dtype);
  std::byte* sum = sum_.data();
  if (wide == dtype) return reduce_onto({at_.data(), at_.size()}, {&sum, 1}, dtype, step, count);
  widened_.resize(std::max(widened_.size(), count * size_of(wide)));
  const std::byte* const both[] = {sum, widened_.data()};
  widen(at_.front(), dtype, count, sum);
  for (std::size_t rank = 1; rank < at_.size(); ++rank) {
    widen(at_[rank], dtype, count, widened_.data());
    reduce_onto(both, {&sum, 1}, wide, step, count);
  }
}

void NodeLinks::close() {
  if (comm_ != MPI_COMM_NULL) check(MPI_Comm_free(&comm_), "MPI_Comm_free");
}

}  // namespace ddpkit::mpi
