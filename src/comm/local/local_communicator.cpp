#include "comm/local/local_communicator.hpp"

#include <unistd.h>

#include <cstring>

#include "comm/aligned_block.hpp"
#include "comm/end_process.hpp"

namespace ddpkit {
namespace {

Topology alone() {
  Topology topology;
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) == 0) topology.host = host;
  return topology;
}

Work copy(const ConstBuffer& in, const Buffer& out) {
  if (in.count > 0) std::memmove(out.data, in.data, in.bytes());
  return {};
}

}  // namespace

LocalCommunicator::LocalCommunicator() : Communicator(alone()) {}

Memory LocalCommunicator::do_allocate(std::size_t bytes) {
  return Memory(std::make_shared<AlignedBlock>(bytes, ++allocations_));
}

Work LocalCommunicator::do_all_reduce(Buffer, ReduceOp, std::string_view) {
  return {};
}

Work LocalCommunicator::do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp, std::string_view) {
  return copy(in, out);
}

Work LocalCommunicator::do_all_gather(ConstBuffer in, Buffer out, std::string_view) {
  return copy(in, out);
}

Work LocalCommunicator::do_broadcast(Buffer, int, std::string_view) {
  return {};
}

std::unique_ptr<Communicator> LocalCommunicator::do_split(int color, int) {
  if (color < 0) return nullptr;
  return std::make_unique<LocalCommunicator>();
}

void LocalCommunicator::do_abort(const Error& reason) noexcept {
  report_abort(topology(), reason);
  end_process(reason.status());
}

}  // namespace ddpkit
