#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comm/mpi/node_board.hpp"
#include "comm/mpi/shared_block.hpp"
#include "ddpkit/comm/buffer.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::mpi {

class OperationQueue;

/// One collective on data that all ranks of the node can reach.
struct NodeOperation {
  Signature signature = {};
  ReduceOp op = ReduceOp::sum;
  ConstBuffer in = {};  ///< what the others read
  Buffer out = {};      ///< what this rank gets; for all_reduce the same elements
  std::string tag = {};
};

/// Collectives among the ranks of one node, done by the ranks themselves where the data lie. Each rank combines the slice that
/// it owns, in the order of the ranks, and writes it to every copy: the bits are the same everywhere and do not depend on how
/// data are cut into operations. Small data in any memory go through mailboxes, of which every rank combines all.
///
/// Nobody works in the background: whoever waits for an operation does this rank's part of it and of those before; `advance`
/// does what can be done without waiting. Operations happen in the order in which they were started. Thread-safe.
class NodeEngine {
 public:
  /// Data up to so many bytes go through mailboxes.
  static constexpr std::size_t kMailboxBytes = 16 << 10;

  struct Options {
    std::shared_ptr<OperationQueue> queue;  ///< where failures of the process are known
    std::chrono::milliseconds timeout{0};
    std::string self = {};  ///< "rank 3 of 4", for errors
    int spins = 0;          ///< looks before a rank that waits begins to yield its core
  };

  /// Bytes of shared memory for board and mailboxes of so many ranks.
  static std::size_t bytes(std::size_t ranks);

  /// In zeroed memory that all ranks share. `members` are the ranks' numbers in the communicator, in order of the node.
  NodeEngine(std::shared_ptr<std::byte> memory, std::vector<int> members, std::size_t mine, Options options);

  /// From here on operations may use the block where it lies. All ranks adopt their part of it.
  void adopt(const std::shared_ptr<SharedBlock>& block);

  /// Whether an operation on these elements can be done here. Equal on all ranks when all use memory of this engine or none
  /// does.
  bool takes(const ConstBuffer& in) const;

  /// This rank has come to its next operation, and gets its number. Waits for earlier ones that use the same elements, and
  /// behind many others; apart from that it does not block. Throws CommError after a failure, like the next two.
  std::uint64_t start(NodeOperation operation);

  /// Number of the operation started last; 0 before the first.
  std::uint64_t last() const;

  /// Returns when operation `number` is done on all ranks as far as this one's data are concerned. CommError
  /// (ExitStatus::timeout), naming who is missing, past the limit, and (ExitStatus::disagree) when ranks called other things.
  void finish(std::uint64_t number);

  /// Does what is ready, without blocking. Whether `number` is done.
  bool advance(std::uint64_t number = 0);

 private:
  static constexpr std::uint64_t kMailboxes = 4;

  struct Slot {
    NodeOperation operation;
    std::optional<std::size_t> box;  // the mailbox it goes through
  };
  Slot& slot(std::uint64_t number) { return slots_[number % NodeBoard::kOutstanding]; }

  bool in_block(const ConstBuffer& buffer) const;
  bool waits_for_another(const NodeOperation& operation, std::uint64_t number);
  void everyone_past(std::uint64_t number);
  void post(Slot& slot, std::uint64_t number);
  void finish_in_turn(std::uint64_t number);
  bool done(std::uint64_t number);
  void combine(std::uint64_t number);
  void all_reduce(const Slot& slot);
  void find_copies(std::uint64_t number);
  std::byte* mailbox(std::size_t rank, std::size_t box) const noexcept;
  void release();

  template <class Ready>
  void wait_until(Ready ready, std::uint64_t number);
  void require_same(std::uint64_t number);
  [[noreturn]] void fail(const CommError& error);
  std::string describe(std::uint64_t number);

  NodeBoard board_;
  std::shared_ptr<std::byte> mailboxes_;
  Options options_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<SharedBlock>> blocks_;
  std::array<Slot, NodeBoard::kOutstanding> slots_;
  std::vector<std::byte*> copies_;                     // every rank's elements of the operation at hand
  std::array<std::uint64_t, kMailboxes> box_users_{};  // the last operation that went through each
  std::uint64_t mailed_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t combined_ = 0;  // this rank's part is done up to here
  std::uint64_t released_ = 0;  // the memory of operations up to here is let go
};

}  // namespace ddpkit::mpi
