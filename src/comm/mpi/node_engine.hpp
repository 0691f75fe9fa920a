#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "comm/mpi/node_board.hpp"
#include "ddpkit/comm/buffer.hpp"
#include "ddpkit/comm/comm_options.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::mpi {

class NodeLinks;
class OperationQueue;

/// One collective on data that all ranks of the node can reach.
struct NodeOperation {
  Signature signature = {};
  ReduceOp op = ReduceOp::sum;
  ConstBuffer in = {};  ///< what the others read
  Buffer out = {};      ///< what this rank gets; for all_reduce the same elements
  std::string_view tag = {};
};

/// Collectives among the ranks of one node, done by the ranks themselves where the data lie. Each rank combines the slice that
/// it owns, in the order of the ranks, and writes it to every copy: the bits are the same everywhere and do not depend on how
/// data are cut into operations. Small data in any memory go through mailboxes, of which every rank combines all.
///
/// Operations happen in the order in which they were started. Whoever waits for one does this rank's part of it and of those
/// before; so does, without waiting, everyone who calls `advance`. Operations are started by one thread at a time; everything
/// else may be called by any thread. Neither allocates in the steady state.
class NodeEngine {
 public:
  /// Data up to so many bytes go through mailboxes.
  static constexpr std::size_t kMailboxBytes = 16 << 10;

  struct Options {
    std::shared_ptr<OperationQueue> queue;  ///< where failures of the process are known
    std::chrono::milliseconds timeout{0};
    std::string self = {};  ///< "rank 3 of 4", for errors
    int spins = 0;          ///< looks before a rank that waits begins to yield its core
    NodeProgress progress = NodeProgress::caller;
    std::shared_ptr<NodeLinks> links = {};  ///< to the other nodes; there is one alone without. Then there are no mailboxes.
  };

  /// Bytes of shared memory for board and mailboxes of so many ranks.
  static std::size_t bytes(std::size_t ranks);

  /// In zeroed memory that all ranks share. `members` are the ranks' numbers in the communicator, in order of the node.
  NodeEngine(std::shared_ptr<std::byte> memory, std::vector<int> members, std::size_t mine, Options options);

  /// What marks memory as allocated by the ranks of this engine.
  const std::shared_ptr<const void>& group() const noexcept { return group_; }

  /// Whether an operation can be done here on so many bytes, which lie in `memory` if it is not empty. Equal on all ranks when
  /// all use memory of this engine or none does.
  bool takes(std::size_t bytes, const Memory& memory) const noexcept;

  /// This rank has come to its next operation, and gets its number. Waits for earlier ones that use the same elements, and
  /// behind many others; apart from that it does not block. Throws CommError after a failure, like all that follow.
  std::uint64_t start(NodeOperation operation);

  /// The same for an operation that is done elsewhere: it is finished when all ranks have come to it.
  std::uint64_t start_gate(const Signature& signature, std::string_view tag);

  /// Finishes what was started; a rank that starts anything after it learns that this one has ended.
  void close();

  /// Returns when operation `number` is done on all ranks as far as this one's data are concerned. CommError
  /// (ExitStatus::timeout), naming who is missing, past the limit, and (ExitStatus::disagree) when ranks called other things.
  void finish(std::uint64_t number);

  /// Does what is ready, without blocking. Whether `number` is done.
  bool advance(std::uint64_t number = 0);

  /// Whether everything that was started is done.
  bool idle() const noexcept { return released_ == started_; }

 private:
  static constexpr std::uint64_t kMailboxes = 8;

  /// How the data of an operation travel.
  enum class Route { in_place, mailbox, gate };

  struct Slot {
    NodeOperation operation;
    std::string tag;
    Route route = Route::gate;
    std::size_t box = 0;  // the mailbox it goes through
  };
  // What an operation reads and writes, for the thread that starts; the slot belongs to whoever does the work.
  struct Extent {
    const std::byte *in_begin, *in_end, *out_begin, *out_end;
  };

  Slot& slot(std::uint64_t number) noexcept { return slots_[number % NodeBoard::kOutstanding]; }
  Extent& extent(std::uint64_t number) noexcept { return extents_[number % NodeBoard::kOutstanding]; }

  std::uint64_t announce(NodeOperation&& operation, Route route);
  bool waits_for_another(const Extent& mine, std::uint64_t number) noexcept;
  void everyone_past(std::uint64_t number);
  void post(Slot& slot, std::uint64_t number);
  void make_progress(Route route);
  bool ready() const noexcept;
  void drive();
  void combine(std::uint64_t number);
  void all_reduce(const Slot& slot);
  void find_copies(std::uint64_t number) noexcept;
  std::byte* mailbox(std::size_t rank, std::size_t box) const noexcept;
  void release() noexcept;

  template <class Ready>
  void wait_until(Ready ready, std::uint64_t number);
  [[noreturn]] void expire(std::uint64_t number);
  [[noreturn]] void fail(const CommError& error);
  std::string describe(std::uint64_t number);

  std::shared_ptr<const void> group_;
  NodeBoard board_;
  std::byte* mailboxes_;
  Options options_;
  std::array<Slot, NodeBoard::kOutstanding> slots_;
  std::atomic<std::uint64_t> started_ = 0;

  // Of the thread that starts.
  std::array<Extent, NodeBoard::kOutstanding> extents_{};
  std::array<std::uint64_t, kMailboxes> box_users_{};  // the last operation that went through each
  std::uint64_t mailed_ = 0;
  std::uint64_t past_ = 0;  // everyone is known to be past it

  // Of the thread that holds `driving_`; others look.
  std::atomic_flag driving_;
  std::atomic<std::uint64_t> combined_ = 0;  // this rank's part is done up to here
  std::atomic<std::uint64_t> released_ = 0;  // operations up to here are done, and their memory is let go
  std::vector<std::byte*> copies_;           // every rank's elements of the operation at hand
};

}  // namespace ddpkit::mpi
