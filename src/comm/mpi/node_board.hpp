#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ddpkit/comm/signature.hpp"

namespace ddpkit::mpi {

/// Where a rank's data of one operation lie: which allocation, how far from its start. Block 0: in none.
struct Place {
  std::uint64_t block = 0;
  std::uint64_t offset = 0;
};

/// What the ranks of a node tell each other about the operations they do together in shared memory: who has come to which, with
/// what, and who is done with it. Numbers count from 1. A row is written by its owner and read by all, without a lock.
class NodeBoard {
 public:
  /// Operations that a rank may have announced and that not all have left.
  static constexpr std::uint64_t kOutstanding = 64;

  /// Bytes of shared memory for so many ranks.
  static std::size_t bytes(std::size_t ranks);

  /// In zeroed memory that all ranks share. `members` are the ranks' numbers in the communicator, in order of the node.
  NodeBoard(std::shared_ptr<std::byte> memory, std::vector<int> members, std::size_t mine);

  std::size_t ranks() const noexcept { return members_.size(); }
  std::size_t mine() const noexcept { return mine_; }

  /// This rank has come to operation `number`, the one after the last, and its data may be used. All ranks have left the one
  /// kOutstanding before.
  void arrive(std::uint64_t number, const Signature& signature, Place place) noexcept;
  /// This rank no longer touches anyone's data of operation `number`.
  void leave(std::uint64_t number) noexcept;

  /// Asked of operations that not all ranks have left.
  bool all_arrived(std::uint64_t number) const noexcept;
  bool all_left(std::uint64_t number) const noexcept { return left_by_all() >= number; }
  /// The last operation that every rank has left.
  std::uint64_t left_by_all() const noexcept;

  /// Of a rank that has arrived at `number`.
  Place place(std::size_t rank, std::uint64_t number) const noexcept { return entry(rank, number).place; }

  /// Whether all ranks, having arrived at `number`, came with the same in the same allocation.
  bool all_alike(std::uint64_t number) const noexcept;
  /// What ranks unlike this one came with: "rank 2 issued broadcast of 4 float32 from rank 0".
  std::string describe_mismatch(std::uint64_t number) const;
  /// Ranks that have not come to `number`, or not finished it.
  std::string describe_absent(std::uint64_t number) const;

 private:
  // Fills a cache line: whoever sees the number has the rest as well.
  struct alignas(64) Entry {
    std::atomic<std::uint64_t> number;
    std::uint64_t what, count;
    Place place;
  };
  struct Row {
    alignas(64) std::atomic<std::uint64_t> left;
    std::array<Entry, kOutstanding> entries;
  };
  const Entry& entry(std::size_t rank, std::uint64_t number) const noexcept {
    return rows_.get()[rank].entries[number % kOutstanding];
  }
  bool alike(std::size_t rank, std::uint64_t number) const noexcept;
  std::uint64_t last_arrival(std::size_t rank) const noexcept;

  std::shared_ptr<Row> rows_;
  std::vector<int> members_;
  std::size_t mine_;
};

}  // namespace ddpkit::mpi
