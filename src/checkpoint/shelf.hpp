#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ddpkit/checkpoint/standing.hpp"

namespace ddpkit {

/// One folder `step-<number>` of a store, as far as its manifest tells.
struct ShelfEntry {
  std::filesystem::path folder{};
  std::int64_t sequence = 0;  ///< 0: its manifest cannot be read, `problem` says why
  Standing standing = Standing::ordinary;
  std::string problem{};
};

/// All checkpoints of a store, newest first; unreadable ones, which cannot say when they were saved, by name after the others.
/// A store that does not exist has none. Throws StorageError when the folder cannot be listed.
std::vector<ShelfEntry> list_shelf(const std::filesystem::path& store);

/// What is not kept: everything but the `keep` newest that are readable and, when `keep_best` says so, the newest best one.
/// Pure. `entries` as `list_shelf` sorts them.
enum class KeepBest { no, yes };
std::vector<ShelfEntry> to_delete(const std::vector<ShelfEntry>& entries, std::size_t keep, KeepBest keep_best);

}  // namespace ddpkit
