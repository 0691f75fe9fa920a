#include "comm/mpi/node_engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "comm/mpi/node_links.hpp"
#include "comm/mpi/operation_queue.hpp"
#include "comm/mpi/shared_block.hpp"
#include "comm/mpi/spin.hpp"
#include "comm/reduce_kernels.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {
namespace {

using Clock = std::chrono::steady_clock;

/// Elements [begin, end) of `count` that one of `owners` owns, cut where cache lines begin. Empty for a rank that is none.
struct Share {
  std::size_t begin, end;
};
Share share_of(std::size_t rank, std::size_t owners, std::size_t count) {
  constexpr std::size_t kLine = 64;  // elements; a whole number of cache lines for every type
  const std::size_t lines = (count + kLine - 1) / kLine;
  const auto edge = [&](std::size_t r) { return std::min(count, lines * std::min(r, owners) / owners * kLine); };
  return {edge(rank), edge(rank + 1)};
}

/// The right to do this rank's part, which one thread at a time has.
class Turn {
 public:
  explicit Turn(std::atomic_flag& taken) : taken_(taken), mine_(!taken.test_and_set(std::memory_order_acquire)) {}
  ~Turn() {
    if (mine_) taken_.clear(std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const noexcept { return mine_; }

 private:
  std::atomic_flag& taken_;
  bool mine_;
};

}  // namespace

std::size_t NodeEngine::bytes(std::size_t ranks) {
  return NodeBoard::bytes(ranks) + ranks * kMailboxes * kMailboxBytes;
}

NodeEngine::NodeEngine(std::shared_ptr<std::byte> memory, std::vector<int> members, std::size_t mine, Options options)
    : group_(memory),
      board_(memory, members, mine),
      mailboxes_(memory.get() + NodeBoard::bytes(members.size())),
      options_(std::move(options)),
      copies_(members.size()) {}

std::byte* NodeEngine::mailbox(std::size_t rank, std::size_t box) const noexcept {
  return mailboxes_ + (rank * kMailboxes + box) * kMailboxBytes;
}

bool NodeEngine::takes(std::size_t bytes, const Memory& memory) const noexcept {
  if (bytes <= kMailboxBytes && !options_.links) return true;
  const auto* block = dynamic_cast<const SharedBlock*>(memory.block().get());
  return block != nullptr && block->group() == group_.get();
}

std::uint64_t NodeEngine::start(NodeOperation operation) {
  const bool small = operation.in.bytes() <= kMailboxBytes && !options_.links;
  return announce(std::move(operation), small ? Route::mailbox : Route::in_place);
}

std::uint64_t NodeEngine::start_gate(const Signature& signature, std::string_view tag) {
  return announce({.signature = signature, .tag = tag}, Route::gate);
}

void NodeEngine::close() {
  finish(started_);
  start_gate({.kind = Collective::close}, {});  // nobody waits for the others here
}

std::uint64_t NodeEngine::announce(NodeOperation&& operation, Route route) {
  options_.queue->throw_if_failed();
  const std::uint64_t number = started_.load(std::memory_order_relaxed) + 1;
  const auto* in = static_cast<const std::byte*>(operation.in.data);
  const auto* out = static_cast<const std::byte*>(operation.out.data);
  const Extent mine{in, in + operation.in.bytes(), out, out + operation.out.bytes()};
  if (waits_for_another(mine, number)) finish(number - 1);
  if (number > NodeBoard::kOutstanding) everyone_past(number - NodeBoard::kOutstanding);
  extent(number) = mine;
  Slot& slot = this->slot(number);
  slot.route = route;
  slot.tag.assign(operation.tag);
  slot.operation = std::move(operation);
  slot.operation.tag = slot.tag;
  if (route == Route::mailbox) post(slot, number);
  Place place;
  if (route == Route::in_place) place = {slot.operation.in.memory.id(), slot.operation.in.offset};
  board_.arrive(number, slot.operation.signature, place);
  started_.store(number, std::memory_order_release);
  make_progress(route);
  return number;
}

void NodeEngine::make_progress(Route route) {
  if (options_.progress == NodeProgress::eager) drive();
  if (options_.progress == NodeProgress::thread && route == Route::in_place) options_.queue->attend();
}

void NodeEngine::post(Slot& slot, std::uint64_t number) {
  slot.box = mailed_++ % kMailboxes;
  everyone_past(box_users_[slot.box]);
  box_users_[slot.box] = number;
  const ConstBuffer& in = slot.operation.in;
  if (in.count > 0) std::memcpy(mailbox(board_.mine(), slot.box), in.data, in.bytes());
}

// What an earlier operation still writes is not there to be read, nor to be overwritten.
bool NodeEngine::waits_for_another(const Extent& mine, std::uint64_t number) noexcept {
  for (std::uint64_t earlier = released_.load(std::memory_order_acquire) + 1; earlier < number; ++earlier) {
    const Extent& other = extent(earlier);
    const bool read_behind_write = mine.in_begin < other.out_end && other.out_begin < mine.in_end;
    const bool write_behind_write = mine.out_begin < other.out_end && other.out_begin < mine.out_end;
    const bool write_behind_read = mine.out_begin < other.in_end && other.in_begin < mine.out_end;
    if (read_behind_write || write_behind_write || write_behind_read) return true;
  }
  return false;
}

/// What it held is used again.
void NodeEngine::everyone_past(std::uint64_t number) {
  if (number <= past_) return;
  finish(number);
  wait_until([&] { return board_.all_left(number); }, number);
  past_ = std::min(board_.left_by_all(), released_.load(std::memory_order_acquire));
}

void NodeEngine::finish(std::uint64_t number) {
  wait_until([&] { return advance(number); }, number);
}

bool NodeEngine::advance(std::uint64_t number) {
  if (number > 0 && released_.load(std::memory_order_acquire) >= number) return true;
  drive();
  return released_.load(std::memory_order_acquire) >= number;
}

bool NodeEngine::ready() const noexcept {
  const std::uint64_t combined = combined_.load(std::memory_order_relaxed);
  if (combined < started_.load(std::memory_order_acquire) && board_.all_arrived(combined + 1)) return true;
  const std::uint64_t released = released_.load(std::memory_order_relaxed);
  return released < combined && board_.all_left(released + 1);
}

void NodeEngine::drive() {
  if (!ready()) return;
  const Turn turn(driving_);
  if (!turn) return;
  for (std::uint64_t next = combined_ + 1; next <= started_ && board_.all_arrived(next); ++next) combine(next);
  release();
}

void NodeEngine::combine(std::uint64_t number) {
  if (!board_.all_alike(number))
    fail(CommError(text(describe(number), ", but ", board_.describe_mismatch(number)), ExitStatus::disagree));
  const Slot& mine = slot(number);
  const NodeOperation& operation = mine.operation;
  find_copies(number);
  const std::size_t bytes = operation.in.bytes();
  auto* out = static_cast<std::byte*>(operation.out.data);
  switch (mine.route == Route::gate || bytes == 0 ? Collective::barrier : operation.signature.kind) {
    case Collective::all_reduce: all_reduce(mine); break;
    case Collective::reduce_scatter:
      for (std::byte*& copy : copies_) copy += board_.mine() * operation.out.bytes();
      reduce_onto({copies_.data(), copies_.size()}, {&out, 1}, operation.in.dtype, operation.op, operation.out.count);
      break;
    case Collective::all_gather:
      for (std::size_t rank = 0; rank < copies_.size(); ++rank)
        if (out + rank * bytes != copies_[rank]) std::memcpy(out + rank * bytes, copies_[rank], bytes);
      break;
    case Collective::broadcast:
      if (operation.signature.root != board_.mine()) std::memcpy(out, copies_[operation.signature.root], bytes);
      break;
    default: break;  // all have come
  }
  combined_.store(number, std::memory_order_release);
  board_.leave(number);
}

void NodeEngine::all_reduce(const Slot& slot) {
  const NodeOperation& operation = slot.operation;
  const DType dtype = operation.in.dtype;
  if (slot.route == Route::mailbox) {
    auto* out = static_cast<std::byte*>(operation.out.data);
    return reduce_onto({copies_.data(), copies_.size()}, {&out, 1}, dtype, operation.op, operation.in.count);
  }
  const std::size_t owners = options_.links ? options_.links->owners() : copies_.size();
  const Share share = share_of(board_.mine(), owners, operation.in.count);
  for (std::byte*& copy : copies_) copy += share.begin * size_of(dtype);
  const std::size_t count = share.end - share.begin;
  if (options_.links) return options_.links->all_reduce(copies_, dtype, operation.op, count);
  reduce_onto({copies_.data(), copies_.size()}, {copies_.data(), copies_.size()}, dtype, operation.op, count);
}

void NodeEngine::find_copies(std::uint64_t number) noexcept {
  const Slot& mine = slot(number);
  for (std::size_t rank = 0; rank < copies_.size(); ++rank) {
    if (mine.route == Route::mailbox) copies_[rank] = mailbox(rank, mine.box);
    if (mine.route == Route::in_place)
      copies_[rank] = mine.operation.in.memory.parts()[rank] + board_.place(rank, number).offset;
  }
}

// What went through a mailbox is out of the caller's memory; what lies there may be in another rank's hands.
void NodeEngine::release() noexcept {
  std::uint64_t next = released_.load(std::memory_order_relaxed) + 1;
  for (; next <= combined_ && (slot(next).route != Route::in_place || board_.all_left(next)); ++next) {
    slot(next).operation.in = {};
    slot(next).operation.out = {};
    released_.store(next, std::memory_order_release);
  }
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
    if (Clock::now() >= deadline) expire(number);
  }
}

// The one to blame is the first that is not done.
void NodeEngine::expire(std::uint64_t number) {
  const std::uint64_t first = std::min(number, released_ + 1);
  fail(CommError(text(describe(first), " timed out after ", std::chrono::duration<double>(options_.timeout).count(),
                      " s: ", board_.describe_absent(first)),
                 ExitStatus::timeout));
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
