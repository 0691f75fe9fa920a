#include "comm/mpi/node_engine.hpp"

#include <cstring>
#include <thread>

#include "comm/mpi/operation_queue.hpp"
#include "comm/reduce_kernels.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {
namespace {

using Clock = std::chrono::steady_clock;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

bool overlap(const ConstBuffer& a, const ConstBuffer& b) {
  const auto* first = static_cast<const std::byte*>(a.data);
  const auto* second = static_cast<const std::byte*>(b.data);
  return first < second + b.bytes() && second < first + a.bytes();
}

/// Elements [begin, end) of `count` that one of `ranks` owns, cut where cache lines begin.
struct Share {
  std::size_t begin, end;
};
Share share_of(std::size_t rank, std::size_t ranks, std::size_t count) {
  constexpr std::size_t kLine = 64;  // elements; a whole number of cache lines for every type
  const std::size_t lines = (count + kLine - 1) / kLine;
  const auto edge = [&](std::size_t r) { return std::min(count, lines * r / ranks * kLine); };
  return {edge(rank), edge(rank + 1)};
}

}  // namespace

std::size_t NodeEngine::bytes(std::size_t ranks) {
  return NodeBoard::bytes(ranks) + ranks * kMailboxes * kMailboxBytes;
}

NodeEngine::NodeEngine(std::shared_ptr<std::byte> memory, std::vector<int> members, std::size_t mine, Options options)
    : board_(memory, members, mine),
      mailboxes_(memory, memory.get() + NodeBoard::bytes(members.size())),
      options_(std::move(options)),
      copies_(members.size()) {}

std::byte* NodeEngine::mailbox(std::size_t rank, std::size_t box) const noexcept {
  return mailboxes_.get() + (rank * kMailboxes + box) * kMailboxBytes;
}

void NodeEngine::adopt(const std::shared_ptr<SharedBlock>& block) {
  const std::lock_guard lock(mutex_);
  std::erase_if(blocks_, [](const auto& known) { return known.second.expired(); });
  blocks_[block->id] = block;
}

bool NodeEngine::in_block(const ConstBuffer& buffer) const {
  const auto found = blocks_.find(buffer.memory.id());
  return found != blocks_.end() && found->second.lock() == buffer.memory.block();
}

bool NodeEngine::takes(const ConstBuffer& in) const {
  if (in.bytes() <= kMailboxBytes) return true;
  const std::lock_guard lock(mutex_);
  return in.memory && in_block(in);
}

std::uint64_t NodeEngine::last() const {
  const std::lock_guard lock(mutex_);
  return started_;
}

std::uint64_t NodeEngine::start(NodeOperation operation) {
  const std::lock_guard lock(mutex_);
  options_.queue->throw_if_failed();
  const std::uint64_t number = started_ + 1;
  if (waits_for_another(operation, number)) finish_in_turn(number - 1);
  if (number > NodeBoard::kOutstanding) everyone_past(number - NodeBoard::kOutstanding);
  Slot& mine = slot(number);
  mine = {std::move(operation), std::nullopt};
  if (mine.operation.in.bytes() <= kMailboxBytes) post(mine, number);
  started_ = number;
  board_.arrive(number, mine.operation.signature, {mine.operation.in.memory.id(), mine.operation.in.offset});
  return number;
}

void NodeEngine::post(Slot& slot, std::uint64_t number) {
  const std::size_t box = mailed_++ % kMailboxes;
  everyone_past(box_users_[box]);
  box_users_[box] = number;
  slot.box = box;
  const ConstBuffer& in = slot.operation.in;
  if (in.count > 0) std::memcpy(mailbox(board_.mine(), box), in.data, in.bytes());
}

// Operations happen in order: what an earlier one still writes is not there to be read, nor to be overwritten.
bool NodeEngine::waits_for_another(const NodeOperation& operation, std::uint64_t number) {
  release();
  for (std::uint64_t earlier = released_ + 1; earlier < number; ++earlier) {
    const NodeOperation& other = slot(earlier).operation;
    if (overlap(operation.in, other.out) || overlap(operation.out, other.out) || overlap(operation.out, other.in)) return true;
  }
  return false;
}

/// What it held is used again.
void NodeEngine::everyone_past(std::uint64_t number) {
  if (board_.all_left(number)) return release();
  finish_in_turn(number);
  wait_until([&] { return board_.all_left(number); }, number);
  release();
}

void NodeEngine::finish(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  finish_in_turn(number);
  release();
}

bool NodeEngine::advance(std::uint64_t number) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  while (combined_ < started_ && board_.all_arrived(combined_ + 1)) combine(combined_ + 1);
  release();
  return done(number);
}

bool NodeEngine::done(std::uint64_t number) {
  return number <= released_ || (number <= combined_ && (slot(number).box || board_.all_left(number)));
}

void NodeEngine::finish_in_turn(std::uint64_t number) {
  while (combined_ < number) {
    const std::uint64_t next = combined_ + 1;
    wait_until([&] { return board_.all_arrived(next); }, next);
    combine(next);
  }
  wait_until([&] { return done(number); }, number);
}

void NodeEngine::combine(std::uint64_t number) {
  require_same(number);
  const Slot& mine = slot(number);
  const NodeOperation& operation = mine.operation;
  find_copies(number);
  const std::size_t bytes = operation.in.bytes();
  auto* out = static_cast<std::byte*>(operation.out.data);
  switch (operation.signature.kind) {
    case Collective::all_reduce: all_reduce(mine); break;
    case Collective::reduce_scatter:
      for (std::byte*& copy : copies_) copy += board_.mine() * operation.out.bytes();
      reduce_onto({copies_.data(), copies_.size()}, {&out, 1}, operation.in.dtype, operation.op, operation.out.count);
      break;
    case Collective::all_gather:
      for (std::size_t rank = 0; rank < copies_.size(); ++rank)
        if (bytes > 0 && out + rank * bytes != copies_[rank]) std::memcpy(out + rank * bytes, copies_[rank], bytes);
      break;
    case Collective::broadcast:
      if (bytes > 0 && operation.signature.root != board_.mine()) std::memcpy(out, copies_[operation.signature.root], bytes);
      break;
    default: break;  // a barrier: all have come
  }
  combined_ = number;
  board_.leave(number);
}

void NodeEngine::all_reduce(const Slot& slot) {
  const NodeOperation& operation = slot.operation;
  auto* out = static_cast<std::byte*>(operation.out.data);
  if (slot.box) {
    reduce_onto({copies_.data(), copies_.size()}, {&out, 1}, operation.in.dtype, operation.op, operation.in.count);
    return;
  }
  const Share share = share_of(board_.mine(), copies_.size(), operation.in.count);
  for (std::byte*& copy : copies_) copy += share.begin * size_of(operation.in.dtype);
  reduce_onto({copies_.data(), copies_.size()}, {copies_.data(), copies_.size()}, operation.in.dtype, operation.op,
              share.end - share.begin);
}

void NodeEngine::find_copies(std::uint64_t number) {
  for (std::size_t rank = 0; rank < copies_.size(); ++rank) {
    if (const auto box = slot(number).box) {
      copies_[rank] = mailbox(rank, *box);
      continue;
    }
    const Place place = board_.place(rank, number);
    const auto found = blocks_.find(place.block);
    const auto block = found == blocks_.end() ? nullptr : found->second.lock();
    if (!block) fail(CommError(text(describe(number), ": another rank uses memory that was freed here"), ExitStatus::disagree));
    copies_[rank] = block->parts[rank] + place.offset;
  }
}

void NodeEngine::release() {
  while (released_ < combined_ && done(released_ + 1)) slot(++released_).operation = {};
}

template <class Ready>
void NodeEngine::wait_until(Ready ready, std::uint64_t number) {
  for (int i = 0; i < options_.spins; ++i) {
    if (ready()) return;
    pause();
  }
  const auto deadline = Clock::now() + options_.timeout;
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return;
      std::this_thread::yield();
    }
    options_.queue->throw_if_failed();
    options_.queue->do_chores(this);
    if (Clock::now() >= deadline)
      fail(CommError(text(describe(number), " timed out after ", std::chrono::duration<double>(options_.timeout).count(),
                          " s: ", board_.describe_absent(number)),
                     ExitStatus::timeout));
  }
}

void NodeEngine::require_same(std::uint64_t number) {
  const std::string others = board_.describe_mismatch(number, slot(number).operation.signature);
  if (!others.empty()) fail(CommError(text(describe(number), ", but ", others), ExitStatus::disagree));
}

void NodeEngine::fail(const CommError& error) {
  options_.queue->fail(error);
  throw error;
}

std::string NodeEngine::describe(std::uint64_t number) {
  const NodeOperation& operation = slot(number).operation;
  return text(options_.self, ": ", ddpkit::describe(operation.signature), ", #", number, ", ", operation.signature.bytes(),
              " bytes", operation.tag.empty() ? "" : " (", operation.tag, operation.tag.empty() ? "" : ")");
}

}  // namespace ddpkit::mpi
