#include "comm/mpi/collectives.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "comm/element.hpp"
#include "comm/mpi/check.hpp"
#include "comm/mpi/spin.hpp"

namespace ddpkit::mpi {
namespace {

constexpr std::int64_t kStagedElements = 1 << 18;  // what is carried in another type passes through a buffer of this size
constexpr std::size_t kSoonOver = 16 << 10;        // bytes of an all-reduce that is waited for inside MPI

MPI_Datatype arithmetic_type(DType dtype) {
  switch (dtype) {
    case DType::float64: return MPI_DOUBLE;
    case DType::int32: return MPI_INT32_T;
    case DType::int64: return MPI_INT64_T;
    case DType::uint8: return MPI_UINT8_T;
    case DType::float32:
    case DType::float16:
    case DType::bfloat16: break;  // summed in float32
  }
  return MPI_FLOAT;
}

// For what is only moved.
MPI_Datatype opaque_type(DType dtype) {
  switch (size_of(dtype)) {
    case 1: return MPI_UINT8_T;
    case 2: return MPI_UINT16_T;
    case 4: return MPI_UINT32_T;
    default: return MPI_UINT64_T;
  }
}

MPI_Op operator_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::min: return MPI_MIN;
    case ReduceOp::max: return MPI_MAX;
    case ReduceOp::sum:
    case ReduceOp::mean: break;  // divided afterwards
  }
  return MPI_SUM;
}

// Calls `body(first, count)` for pieces of at most `limit` elements.
template <class Body>
void in_chunks(std::size_t count, std::int64_t limit, Body&& body) {
  const auto step = static_cast<std::size_t>(std::max<std::int64_t>(limit, 1));
  for (std::size_t first = 0; first < count; first += step) body(first, static_cast<int>(std::min(step, count - first)));
}

std::byte* at(void* data, DType dtype, std::size_t element) {
  return static_cast<std::byte*>(data) + element * size_of(dtype);
}

const std::byte* at(const void* data, DType dtype, std::size_t element) {
  return static_cast<const std::byte*>(data) + element * size_of(dtype);
}

std::byte* scratch(Channel& channel, DType dtype, std::size_t elements) {
  channel.scratch.resize(std::max(channel.scratch.size(), elements * size_of(sum_type(dtype))));
  return channel.scratch.data();
}

void all_reduce_inside_mpi(MPI_Comm comm, void* data, DType dtype, int count, ReduceOp op) {
  check(MPI_Allreduce(MPI_IN_PLACE, data, count, arithmetic_type(dtype), operator_of(op), comm), "MPI_Allreduce");
}

// Elements of `sum_type(dtype)`, reduced in place and divided for the mean.
void reduce_wide(const Channel& channel, void* wide, DType dtype, int count, ReduceOp op) {
  const bool far = channel.topology.node_count > 1;
  (far ? all_reduce_between_nodes : all_reduce_inside_mpi)(channel.comm, wide, dtype, count, op);
  if (op == ReduceOp::mean) divide(wide, sum_type(dtype), static_cast<std::size_t>(count), channel.topology.world_size);
}

bool overlap(const ConstBuffer& in, const Buffer& out) {
  const auto* in_begin = static_cast<const std::byte*>(in.data);
  const auto* out_begin = static_cast<const std::byte*>(out.data);
  return out_begin < in_begin + in.bytes() && in_begin < out_begin + out.bytes();
}

// One piece of every part, side by side in scratch memory, reduced there; the own piece goes on to `out`.
void reduce_scatter_staged(Channel& channel, const ConstBuffer& in, const Buffer& out, ReduceOp op) {
  const auto ranks = static_cast<std::size_t>(channel.topology.world_size);
  const std::int64_t limit =
      std::min(channel.options.chunk_elements, std::max<std::int64_t>(kStagedElements / channel.topology.world_size, 1));
  const DType wide = sum_type(out.dtype);
  in_chunks(out.count, limit, [&](std::size_t first, int count) {
    const auto length = static_cast<std::size_t>(count);
    std::byte* parts = scratch(channel, out.dtype, (ranks + 1) * length);
    std::byte* own = at(parts, wide, ranks * length);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      widen(at(in.data, in.dtype, rank * out.count + first), in.dtype, length, at(parts, wide, rank * length));
    check(MPI_Reduce_scatter_block(parts, own, count, arithmetic_type(out.dtype), operator_of(op), channel.comm),
          "MPI_Reduce_scatter_block");
    if (op == ReduceOp::mean) divide(own, wide, length, channel.topology.world_size);
    narrow(own, out.dtype, length, at(out.data, out.dtype, first));
  });
}

// Parts lie further apart than one call can say: each rank sends its own.
void all_gather_in_chunks(const Channel& channel, const ConstBuffer& in, const Buffer& out) {
  const auto rank = static_cast<std::size_t>(channel.topology.rank);
  std::memmove(at(out.data, out.dtype, rank * in.count), in.data, in.bytes());
  for (int root = 0; root < channel.topology.world_size; ++root)
    in_chunks(in.count, channel.options.chunk_elements, [&](std::size_t first, int count) {
      std::byte* piece = at(out.data, out.dtype, static_cast<std::size_t>(root) * in.count + first);
      check(MPI_Bcast(piece, count, opaque_type(out.dtype), root, channel.comm), "MPI_Bcast");
    });
}

}  // namespace

void all_reduce_between_nodes(MPI_Comm comm, void* data, DType dtype, int count, ReduceOp op) {
  if (static_cast<std::size_t>(count) * size_of(dtype) <= kSoonOver) return all_reduce_inside_mpi(comm, data, dtype, count, op);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, data, count, arithmetic_type(dtype), operator_of(op), comm, &request), "MPI_Iallreduce");
  wait_beside_work([&] {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
}

void all_reduce(Channel& channel, const Buffer& data, ReduceOp op) {
  const bool staged = sum_type(data.dtype) != data.dtype;
  const std::int64_t limit =
      staged ? std::min(channel.options.chunk_elements, kStagedElements) : channel.options.chunk_elements;
  in_chunks(data.count, limit, [&](std::size_t first, int count) {
    std::byte* piece = at(data.data, data.dtype, first);
    if (!staged) return reduce_wide(channel, piece, data.dtype, count, op);
    std::byte* wide = scratch(channel, data.dtype, static_cast<std::size_t>(count));
    widen(piece, data.dtype, static_cast<std::size_t>(count), wide);
    reduce_wide(channel, wide, data.dtype, count, op);
    narrow(wide, data.dtype, static_cast<std::size_t>(count), piece);
  });
}

void reduce_scatter(Channel& channel, const ConstBuffer& in, const Buffer& out, ReduceOp op) {
  if (out.count == 0) return;
  const bool direct = sum_type(out.dtype) == out.dtype &&
                      static_cast<std::int64_t>(out.count) <= channel.options.chunk_elements && !overlap(in, out);
  if (!direct) return reduce_scatter_staged(channel, in, out, op);
  check(MPI_Reduce_scatter_block(in.data, out.data, static_cast<int>(out.count), arithmetic_type(out.dtype), operator_of(op),
                                 channel.comm),
        "MPI_Reduce_scatter_block");
  if (op == ReduceOp::mean) divide(out.data, out.dtype, out.count, channel.topology.world_size);
}

void all_gather(Channel& channel, const ConstBuffer& in, const Buffer& out) {
  if (in.count == 0) return;
  if (static_cast<std::int64_t>(in.count) > channel.options.chunk_elements) return all_gather_in_chunks(channel, in, out);
  const int count = static_cast<int>(in.count);
  const MPI_Datatype type = opaque_type(in.dtype);
  const void* own = overlap(in, out) ? MPI_IN_PLACE : in.data;
  check(MPI_Allgather(own, count, type, out.data, count, type, channel.comm), "MPI_Allgather");
}

void broadcast(Channel& channel, const Buffer& data, int root) {
  in_chunks(data.count, channel.options.chunk_elements, [&](std::size_t first, int count) {
    check(MPI_Bcast(at(data.data, data.dtype, first), count, opaque_type(data.dtype), root, channel.comm), "MPI_Bcast");
  });
}

void barrier(Channel& channel) {
  check(MPI_Barrier(channel.comm), "MPI_Barrier");
}

}  // namespace ddpkit::mpi
