#include "checkpoint/shelf.hpp"

#include <algorithm>
#include <system_error>

#include "checkpoint/read_manifest.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

ShelfEntry examine(const std::filesystem::path& folder) {
  ShelfEntry entry{.folder = folder};
  try {
    const Manifest manifest = read_manifest(folder);
    entry.sequence = manifest.sequence;
    entry.standing = manifest.standing;
  } catch (const StorageError& error) {
    entry.problem = error.what();
  }
  return entry;
}

bool newer(const ShelfEntry& a, const ShelfEntry& b) {
  return a.sequence != b.sequence ? a.sequence > b.sequence : a.folder > b.folder;
}

}  // namespace

std::vector<ShelfEntry> list_shelf(const std::filesystem::path& store) {
  std::vector<ShelfEntry> entries;
  std::error_code error;
  std::filesystem::directory_iterator item(store, error);
  for (; !error && item != std::filesystem::directory_iterator(); item.increment(error)) {
    const bool named_so = item->path().filename().string().starts_with("step-");
    std::error_code unknown;
    if (named_so && item->is_directory(unknown)) entries.push_back(examine(item->path()));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw StorageError(text("cannot list ", store.string(), ": ", error.message()));
  std::ranges::sort(entries, newer);
  return entries;
}

std::vector<ShelfEntry> to_delete(const std::vector<ShelfEntry>& entries, std::size_t keep, KeepBest keep_best) {
  std::vector<ShelfEntry> doomed;
  std::size_t kept = 0;
  bool best_wanted = keep_best == KeepBest::yes;
  for (const ShelfEntry& entry : entries) {
    const bool among_newest = entry.problem.empty() && kept < keep;
    const bool best = best_wanted && entry.standing == Standing::best;
    if (among_newest) ++kept;
    if (best) best_wanted = false;
    if (!among_newest && !best) doomed.push_back(entry);
  }
  return doomed;
}

}  // namespace ddpkit
