#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ddpkit/comm/signature.hpp"

namespace ddpkit::mpi {

/// How far every rank of this node has come in the operations of one communicator, in memory that the ranks share. MPI itself
/// never tells who is late. Written by the owner of a row, read by all, without a lock.
class ProgressTable {
 public:
  ProgressTable() = default;  ///< knows nothing; for the time before there is one

  static std::size_t bytes(std::size_t ranks) { return ranks * sizeof(Row); }

  /// In zeroed memory that the ranks of a node share. `members` are their ranks in the communicator, in order of the node;
  /// `world_size` counts those of other nodes too. Without memory the table knows of this rank only.
  ProgressTable(std::shared_ptr<std::byte> memory, std::vector<int> members, std::size_t mine, int world_size);

  void enter(std::uint64_t sequence, const Signature& signature) noexcept;
  void leave(std::uint64_t sequence) noexcept;

  /// Ranks that are in the middle of another operation under the same number: `rank 2 issued broadcast of 4 float32 from rank
  /// 0`. Empty when there are none. Of two ranks that differ, at least the one that enters later finds out.
  std::string describe_mismatch(std::uint64_t sequence, const Signature& signature) const;

  /// Ranks that have not come to `sequence`, and those of which nothing is known.
  std::string describe_absent(std::uint64_t sequence) const;

 private:
  struct Row {
    std::atomic<std::uint64_t> entered, left, what, count;
    char to_cache_line[32];
  };

  std::optional<Signature> in_progress(std::size_t member, std::uint64_t sequence) const noexcept;

  std::shared_ptr<Row> rows_;
  std::size_t mine_ = 0;
  std::vector<int> members_;
  int world_size_ = 0;
};

}  // namespace ddpkit::mpi
