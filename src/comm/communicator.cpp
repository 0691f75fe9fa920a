#include "ddpkit/comm/communicator.hpp"

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

std::string_view name_of(Device::Type type) {
  return type == Device::Type::cuda ? "cuda" : "cpu";
}

[[noreturn]] void refuse(const Communicator& comm, std::string_view operation, std::string_view tag, const std::string& why) {
  throw UsageError(
      text("rank ", comm.rank(), ": ", operation, tag.empty() ? "" : " (", tag, tag.empty() ? "" : ")", ": ", why));
}

void check_op(const Communicator& comm, std::string_view operation, std::string_view tag, DType dtype, ReduceOp op) {
  if (op == ReduceOp::mean && !is_floating(dtype))
    refuse(comm, operation, tag, text("the mean of ", name_of(dtype), " would be cut off; sum, then divide in floating point"));
}

}  // namespace

std::string_view name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return "sum";
    case ReduceOp::mean: return "mean";
    case ReduceOp::min: return "min";
    case ReduceOp::max: return "max";
  }
  return "?";
}

template <class AnyBuffer>
void Communicator::check_data(std::string_view operation, std::string_view tag, const AnyBuffer& buffer) const {
  if (buffer.count > 0 && buffer.data == nullptr)
    refuse(*this, operation, tag, text(buffer.count, " elements at a null pointer"));
  if (buffer.device.type != accepts_)
    refuse(
        *this, operation, tag,
        text("the elements lie on ", name_of(buffer.device.type), ", but backend ", backend(), " takes ", name_of(accepts_)));
}

template <class Whole, class Part>
void Communicator::check_pair(std::string_view operation, std::string_view tag, const Whole& whole, const Part& part) const {
  check_data(operation, tag, whole);
  check_data(operation, tag, part);
  if (whole.dtype != part.dtype)
    refuse(*this, operation, tag,
           text("input and output differ in type: ", name_of(whole.dtype), " and ", name_of(part.dtype)));
  const auto ranks = static_cast<std::size_t>(world_size());
  if (whole.count != part.count * ranks)
    refuse(*this, operation, tag, text("the whole has ", whole.count, " elements, expected ", ranks, " ranks x ", part.count));
}

Memory Communicator::allocate(std::size_t bytes) {
  return do_allocate(bytes);
}

Work Communicator::all_reduce(Buffer data, ReduceOp op, std::string_view tag) {
  check_data("all_reduce", tag, data);
  check_op(*this, "all_reduce", tag, data.dtype, op);
  return do_all_reduce(std::move(data), op, tag);
}

Work Communicator::reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) {
  check_pair("reduce_scatter", tag, in, out);
  check_op(*this, "reduce_scatter", tag, in.dtype, op);
  return do_reduce_scatter(std::move(in), std::move(out), op, tag);
}

Work Communicator::all_gather(ConstBuffer in, Buffer out, std::string_view tag) {
  check_pair("all_gather", tag, out, in);
  return do_all_gather(std::move(in), std::move(out), tag);
}

Work Communicator::broadcast(Buffer data, int root, std::string_view tag) {
  check_data("broadcast", tag, data);
  if (root < 0 || root >= world_size()) refuse(*this, "broadcast", tag, text("no rank ", root, " among ", world_size()));
  return do_broadcast(std::move(data), root, tag);
}

void Communicator::barrier() {
  do_barrier();
}

std::unique_ptr<Communicator> Communicator::split(int color, int key) {
  return do_split(color, key);
}

void Communicator::abort(const Error& reason) noexcept {
  do_abort(reason);
}

}  // namespace ddpkit
