#include "comm/mpi/mpi_communicator.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "comm/aligned_block.hpp"
#include "comm/mpi/check.hpp"
#include "comm/mpi/collectives.hpp"
#include "comm/mpi/node_engine.hpp"
#include "comm/mpi/node_work.hpp"
#include "comm/mpi/shared_memory.hpp"
#include "comm/signature_of.hpp"

namespace ddpkit::mpi {
namespace {

/// Null where the ranks do not share memory.
std::shared_ptr<SharedBlock> allocate_shared(Channel& channel, std::size_t bytes, std::uint64_t id) {
  mpi::barrier(channel);
  if (!channel.engine) return nullptr;
  SharedMemory memory =
      share_memory(channel.node, channel.node_ranks.size() * SharedBlock::stride(std::max<std::size_t>(bytes, 1)));
  if (!memory.data) {
    if (channel.topology.rank == 0)
      std::fprintf(stderr, "[rank 0/%d] warning: no shared memory for %zu bytes of each rank (%s): they go through MPI\n",
                   channel.topology.world_size, bytes, memory.problem.c_str());
    return nullptr;
  }
  const auto mine = static_cast<std::size_t>(channel.topology.local_rank);
  auto block = std::make_shared<SharedBlock>(std::move(memory.data), bytes, channel.node_ranks.size(), mine, id);
  channel.engine->adopt(block);
  return block;
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
  const Signature signature{.kind = Collective::close};
  if (channel_->engine)
    issue_on_node({.signature = signature}).synchronize();  // a rank that still calls something learns of it
  issue(signature, {}, [channel = channel_] { close_channel(*channel); }).synchronize();
}

Work MpiCommunicator::issue(const Signature& signature, std::string_view tag, std::function<void()> body) {
  const std::lock_guard lock(issuing_);
  if (const auto& engine = channel_->engine; engine && engine->last() > 0)  // what was begun before comes before
    body = [engine, before = engine->last(), body = std::move(body)] {
      engine->finish(before);
      body();
    };
  return enqueue(signature, tag, std::move(body));
}

Work MpiCommunicator::enqueue(const Signature& signature, std::string_view tag, std::function<void()> body) {
  Operation::Plan plan{signature, ++issued_, std::string(tag), std::move(body)};
  auto operation = std::make_shared<Operation>(runtime_->queue(), channel_, std::move(plan));
  ++channel_->under_way;
  runtime_->queue()->push(operation);
  return Work(std::move(operation));
}

/// On this thread, unless the communication thread still has earlier operations to do.
Work MpiCommunicator::issue_on_node(NodeOperation operation) {
  const std::lock_guard lock(issuing_);
  const auto& engine = channel_->engine;
  if (channel_->under_way == 0) return Work(std::make_shared<NodeWork>(engine, engine->start(std::move(operation))));
  const Signature signature = operation.signature;
  const std::string tag = operation.tag;
  return enqueue(signature, tag, [engine, operation = std::move(operation)] { engine->finish(engine->start(operation)); });
}

bool MpiCommunicator::on_node(const ConstBuffer& in) const {
  return channel_->engine && channel_->engine->takes(in);
}

Memory MpiCommunicator::do_allocate(std::size_t bytes) {
  const Signature signature{.kind = Collective::allocate, .count = bytes};
  const auto allocated = std::make_shared<std::shared_ptr<SharedBlock>>();
  const std::uint64_t id = ++allocated_;
  issue(signature, {}, [channel = channel_, allocated, bytes, id] {
    *allocated = allocate_shared(*channel, bytes, id);
  }).synchronize();
  if (*allocated) return Memory(*allocated);
  return Memory(std::make_shared<AlignedBlock>(bytes, id));
}

Work MpiCommunicator::do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) {
  const Signature signature = signature_of(Collective::all_reduce, data, op);
  if (on_node(data)) return issue_on_node({signature, op, data, data, std::string(tag)});
  return issue(signature, tag, [channel = channel_, data = std::move(data), op] { mpi::all_reduce(*channel, data, op); });
}

Work MpiCommunicator::do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) {
  const Signature signature = signature_of(Collective::reduce_scatter, out, op);
  if (on_node(in)) return issue_on_node({signature, op, in, out, std::string(tag)});
  return issue(signature, tag, [channel = channel_, in = std::move(in), out = std::move(out), op] {
    mpi::reduce_scatter(*channel, in, out, op);
  });
}

Work MpiCommunicator::do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) {
  const Signature signature = signature_of(Collective::all_gather, in);
  if (on_node(in)) return issue_on_node({signature, ReduceOp::sum, in, out, std::string(tag)});
  return issue(signature, tag,
               [channel = channel_, in = std::move(in), out = std::move(out)] { mpi::all_gather(*channel, in, out); });
}

Work MpiCommunicator::do_broadcast(Buffer data, int root, std::string_view tag) {
  const Signature signature = signature_of_broadcast(data, root);
  if (on_node(data)) return issue_on_node({signature, ReduceOp::sum, data, data, std::string(tag)});
  return issue(signature, tag, [channel = channel_, data = std::move(data), root] { mpi::broadcast(*channel, data, root); });
}

void MpiCommunicator::do_barrier() {
  if (channel_->engine) return issue_on_node({.signature = {.kind = Collective::barrier}}).synchronize();
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
