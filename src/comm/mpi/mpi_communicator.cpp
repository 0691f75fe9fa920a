#include "comm/mpi/mpi_communicator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "comm/aligned_block.hpp"
#include "comm/mpi/check.hpp"
#include "comm/mpi/collectives.hpp"
#include "comm/mpi/node_engine.hpp"
#include "comm/mpi/shared_block.hpp"
#include "comm/mpi/shared_memory.hpp"
#include "comm/signature_of.hpp"

namespace ddpkit::mpi {
namespace {

/// Null where the ranks of some node do not share memory.
std::shared_ptr<SharedBlock> allocate_shared(Channel& channel, std::size_t bytes, std::uint64_t id) {
  if (!channel.engine) return nullptr;
  const SharedBlock::Shape shape{.bytes = bytes,
                                 .ranks = channel.node_ranks.size(),
                                 .mine = static_cast<std::size_t>(channel.topology.local_rank),
                                 .id = id};
  SharedMemory memory = share_memory(channel.node, shape.ranks * SharedBlock::stride(std::max<std::size_t>(bytes, 1)));
  warn_of_private_memory(channel, memory.problem);
  int everywhere = memory.data ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, channel.comm), "MPI_Allreduce");
  if (everywhere == 0) return nullptr;
  return std::make_shared<SharedBlock>(std::move(memory.data), shape, channel.engine->group());
}

Work copied(const ConstBuffer& in, const Buffer& out) {
  if (in.count > 0) std::memmove(out.data, in.data, in.bytes());
  return {};
}

}  // namespace

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
  Operation::Plan plan{.signature = {.kind = Collective::close}, .body = [channel = channel_] { close_channel(*channel); }};
  if (const auto& engine = channel_->engine) plan.on_node = [engine] { engine->close(); };
  enqueue(std::move(plan)).synchronize();
}

// The ranks of a node first see that all have come to the same: one of them may have gone another way with it.
std::function<void()> MpiCommunicator::gate(const Signature& signature) const {
  if (!channel_->engine) return {};
  return [engine = channel_->engine, signature] { engine->finish(engine->start_gate(signature, {})); };
}

Work MpiCommunicator::issue(const Signature& signature, std::string_view tag, std::function<void()> body) {
  return enqueue({.signature = signature, .tag = std::string(tag), .on_node = gate(signature), .body = std::move(body)});
}

Work MpiCommunicator::enqueue(Operation::Plan plan) {
  const std::lock_guard lock(issuing_);
  plan.sequence = ++issued_;
  auto operation = std::make_shared<Operation>(runtime_->queue(), channel_, std::move(plan));
  runtime_->queue()->push(operation);
  return Work(std::move(operation));
}

/// On this thread, unless the communication thread still has earlier operations to do, or other nodes to talk to.
Work MpiCommunicator::issue_on_node(NodeOperation operation) {
  const auto& engine = channel_->engine;
  if (channel_->under_way == 0 && !channel_->links) return works_.take(engine, engine->start(std::move(operation)));
  Operation::Plan plan{.signature = operation.signature, .tag = std::string(operation.tag)};
  operation.tag = {};
  plan.on_node = [engine, operation = std::move(operation)] { engine->finish(engine->start(operation)); };
  return enqueue(std::move(plan));
}

template <class AnyBuffer>
bool MpiCommunicator::on_node(const AnyBuffer& in) const noexcept {
  return channel_->engine && channel_->engine->takes(in.bytes(), in.memory);
}

/// Where only reductions in place are done across nodes, everything else is left to MPI.
template <class AnyBuffer>
bool MpiCommunicator::on_only_node(const AnyBuffer& in) const noexcept {
  return !channel_->links && on_node(in);
}

Memory MpiCommunicator::do_allocate(std::size_t bytes) {
  const std::uint64_t id = ++allocated_;
  if (alone()) return Memory(std::make_shared<AlignedBlock>(bytes, id));
  const Signature signature{.kind = Collective::allocate, .count = bytes};
  const auto allocated = std::make_shared<std::shared_ptr<SharedBlock>>();
  issue(signature, {}, [channel = channel_, allocated, bytes, id] {
    *allocated = allocate_shared(*channel, bytes, id);
  }).synchronize();
  if (*allocated) return Memory(*allocated);
  return Memory(std::make_shared<AlignedBlock>(bytes, id));
}

Work MpiCommunicator::do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) {
  if (alone()) return {};
  const Signature signature = signature_of(Collective::all_reduce, data, op);
  if (on_node(data)) return issue_on_node({signature, op, data, std::move(data), tag});
  return issue(signature, tag, [channel = channel_, data = std::move(data), op] { mpi::all_reduce(*channel, data, op); });
}

Work MpiCommunicator::do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) {
  if (alone()) return copied(in, out);
  const Signature signature = signature_of(Collective::reduce_scatter, out, op);
  if (on_only_node(in)) return issue_on_node({signature, op, std::move(in), std::move(out), tag});
  return issue(signature, tag, [channel = channel_, in = std::move(in), out = std::move(out), op] {
    mpi::reduce_scatter(*channel, in, out, op);
  });
}

Work MpiCommunicator::do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) {
  if (alone()) return copied(in, out);
  const Signature signature = signature_of(Collective::all_gather, in);
  if (on_only_node(in)) return issue_on_node({signature, ReduceOp::sum, std::move(in), std::move(out), tag});
  return issue(signature, tag,
               [channel = channel_, in = std::move(in), out = std::move(out)] { mpi::all_gather(*channel, in, out); });
}

Work MpiCommunicator::do_broadcast(Buffer data, int root, std::string_view tag) {
  if (alone()) return {};
  const Signature signature = signature_of_broadcast(data, root);
  if (on_only_node(data)) return issue_on_node({signature, ReduceOp::sum, data, std::move(data), tag});
  return issue(signature, tag, [channel = channel_, data = std::move(data), root] { mpi::broadcast(*channel, data, root); });
}

void MpiCommunicator::do_barrier() {
  if (alone()) return;
  if (on_only_node(ConstBuffer())) return issue_on_node({.signature = {.kind = Collective::barrier}}).synchronize();
  issue({.kind = Collective::barrier}, {}, [channel = channel_] { mpi::barrier(*channel); }).synchronize();
}

std::unique_ptr<Communicator> MpiCommunicator::do_split(int color, int key) {
  std::shared_ptr<Channel> opened;
  {
    const std::lock_guard lock(issuing_);
    const Signature signature{.kind = Collective::split};
    opened =
        runtime_->open(channel_, {.signature = signature, .sequence = ++issued_, .on_node = gate(signature)}, {color, key});
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
