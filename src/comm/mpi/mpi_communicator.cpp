#include "comm/mpi/mpi_communicator.hpp"

#include <cstdio>
#include <exception>

#include "comm/aligned_block.hpp"
#include "comm/mpi/check.hpp"
#include "comm/mpi/collectives.hpp"
#include "comm/signature_of.hpp"

namespace ddpkit::mpi {
MpiCommunicator::MpiCommunicator(std::shared_ptr<Runtime> runtime, std::shared_ptr<Channel> channel)
    : Communicator(channel->topology),
      runtime_(std::move(runtime)),
      channel_(std::move(channel)),
      exceptions_at_start_(std::uncaught_exceptions()) {}

MpiCommunicator::~MpiCommunicator() {
  if (runtime_->queue()->failed() || std::uncaught_exceptions() > exceptions_at_start_) return;
  try {
    close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "[rank %d/%d] error while a communicator ends: %s\n", rank(), world_size(), error.what());
  }
}

void MpiCommunicator::close() {
  const auto free = [channel = channel_] { check(MPI_Comm_free(&channel->comm), "MPI_Comm_free"); };
  issue({.kind = Collective::close}, {}, free).synchronize();
}

Work MpiCommunicator::issue(const Signature& signature, std::string_view tag, std::function<void()> body) {
  const std::lock_guard lock(issuing_);
  Operation::Plan plan{signature, ++issued_, std::string(tag), std::move(body)};
  auto operation = std::make_shared<Operation>(runtime_->queue(), channel_, std::move(plan));
  runtime_->queue()->push(operation);
  return Work(std::move(operation));
}

Memory MpiCommunicator::do_allocate(std::size_t bytes) {
  const Signature signature{.kind = Collective::allocate, .count = bytes};
  issue(signature, {}, [channel = channel_] { mpi::barrier(*channel); }).synchronize();
  return Memory(std::make_shared<AlignedBlock>(bytes, ++allocated_));
}

Work MpiCommunicator::do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) {
  const Signature signature = signature_of(Collective::all_reduce, data, op);
  return issue(signature, tag, [channel = channel_, data = std::move(data), op] { mpi::all_reduce(*channel, data, op); });
}

Work MpiCommunicator::do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) {
  const Signature signature = signature_of(Collective::reduce_scatter, out, op);
  return issue(signature, tag, [channel = channel_, in = std::move(in), out = std::move(out), op] {
    mpi::reduce_scatter(*channel, in, out, op);
  });
}

Work MpiCommunicator::do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) {
  const Signature signature = signature_of(Collective::all_gather, in);
  return issue(signature, tag,
               [channel = channel_, in = std::move(in), out = std::move(out)] { mpi::all_gather(*channel, in, out); });
}

Work MpiCommunicator::do_broadcast(Buffer data, int root, std::string_view tag) {
  const Signature signature = signature_of_broadcast(data, root);
  return issue(signature, tag, [channel = channel_, data = std::move(data), root] { mpi::broadcast(*channel, data, root); });
}

void MpiCommunicator::do_barrier() {
  issue({.kind = Collective::barrier}, {}, [channel = channel_] { mpi::barrier(*channel); }).synchronize();
}

std::unique_ptr<Communicator> MpiCommunicator::do_split(int color, int key) {
  std::shared_ptr<Channel> opened;
  {
    const std::lock_guard lock(issuing_);
    opened = runtime_->open(channel_, {.signature = {.kind = Collective::split}, .sequence = ++issued_}, {color, key});
  }
  if (!opened) return nullptr;
  return std::make_unique<MpiCommunicator>(runtime_, std::move(opened));
}

void MpiCommunicator::do_abort(const Error& reason) noexcept {
  runtime_->abort(topology(), reason);
}

std::unique_ptr<Communicator> open_communicator(std::shared_ptr<Runtime> runtime, std::shared_ptr<Channel> parent) {
  const int rank = parent->topology.rank;
  Operation::Plan plan{.signature = {.kind = Collective::split}, .tag = "start"};
  auto channel = runtime->open(std::move(parent), std::move(plan), {.color = 0, .key = rank});
  return std::make_unique<MpiCommunicator>(std::move(runtime), std::move(channel));
}

}  // namespace ddpkit::mpi
