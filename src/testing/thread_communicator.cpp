#include "testing/thread_communicator.hpp"

#include <string>
#include <utility>

#include "comm/aligned_block.hpp"
#include "comm/signature_of.hpp"

namespace ddpkit::testing {
namespace {

class ThreadWork final : public Work::State {
 public:
  ThreadWork(Seat seat, std::shared_ptr<Meeting> meeting) : seat_(std::move(seat)), meeting_(std::move(meeting)) {}

  void wait() override { seat_.group->wait(seat_.rank, *meeting_); }
  void synchronize() override { wait(); }
  bool done() override { return seat_.group->done(*meeting_); }

 private:
  Seat seat_;
  std::shared_ptr<Meeting> meeting_;
};

}  // namespace

Work ThreadCommunicator::issue(Contribution mine) {
  const Seat seat{group_, rank()};
  return Work(std::make_shared<ThreadWork>(seat, group_->join(rank(), std::move(mine))));
}

std::shared_ptr<Meeting> ThreadCommunicator::meet(Contribution mine) {
  auto meeting = group_->join(rank(), std::move(mine));
  group_->wait(rank(), *meeting);
  return meeting;
}

Memory ThreadCommunicator::do_allocate(std::size_t bytes) {
  const auto meeting = meet({.signature = {.kind = Collective::allocate, .count = bytes}});
  return Memory(std::make_shared<AlignedBlock>(bytes, meeting->sequence));
}

Work ThreadCommunicator::do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) {
  const Signature signature = signature_of(Collective::all_reduce, data, op);
  return issue({.signature = signature, .tag = std::string(tag), .in = data, .out = data});
}

Work ThreadCommunicator::do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) {
  const Signature signature = signature_of(Collective::reduce_scatter, out, op);
  return issue({.signature = signature, .tag = std::string(tag), .in = std::move(in), .out = std::move(out)});
}

Work ThreadCommunicator::do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) {
  const Signature signature = signature_of(Collective::all_gather, in);
  return issue({.signature = signature, .tag = std::string(tag), .in = std::move(in), .out = std::move(out)});
}

Work ThreadCommunicator::do_broadcast(Buffer data, int root, std::string_view tag) {
  const Signature signature = signature_of_broadcast(data, root);
  return issue({.signature = signature, .tag = std::string(tag), .in = data, .out = data});
}

void ThreadCommunicator::do_barrier() {
  meet({.signature = {.kind = Collective::barrier}});
}

std::unique_ptr<Communicator> ThreadCommunicator::do_split(int color, int key) {
  const auto meeting = meet({.signature = {.kind = Collective::split}, .color = color, .key = key});
  const Seat& seat = meeting->seats[static_cast<std::size_t>(rank())];
  if (!seat.group) return nullptr;
  return std::make_unique<ThreadCommunicator>(seat);
}

}  // namespace ddpkit::testing
