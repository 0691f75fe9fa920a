#include "ddpkit/testing/logged_communicator.hpp"

#include <string>
#include <utility>

namespace ddpkit::testing {

Memory LoggedCommunicator::do_allocate(std::size_t bytes) {
  log_.add({Collective::allocate, bytes, DType::uint8, {}});
  return inner_.allocate(bytes);
}

Work LoggedCommunicator::do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) {
  log_.add({Collective::all_reduce, data.count, data.dtype, std::string(tag)});
  return inner_.all_reduce(std::move(data), op, tag);
}

Work LoggedCommunicator::do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) {
  log_.add({Collective::reduce_scatter, out.count, out.dtype, std::string(tag)});
  return inner_.reduce_scatter(std::move(in), std::move(out), op, tag);
}

Work LoggedCommunicator::do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) {
  log_.add({Collective::all_gather, in.count, in.dtype, std::string(tag)});
  return inner_.all_gather(std::move(in), std::move(out), tag);
}

Work LoggedCommunicator::do_broadcast(Buffer data, int root, std::string_view tag) {
  log_.add({Collective::broadcast, data.count, data.dtype, std::string(tag)});
  return inner_.broadcast(std::move(data), root, tag);
}

void LoggedCommunicator::do_barrier() {
  log_.add({Collective::barrier, 0, DType::uint8, {}});
  inner_.barrier();
}

std::unique_ptr<Communicator> LoggedCommunicator::do_split(int color, int key) {
  log_.add({Collective::split, 0, DType::uint8, {}});
  return inner_.split(color, key);
}

}  // namespace ddpkit::testing
