#include "ddpkit/checkpoint/checkpoint_store.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "checkpoint/folder.hpp"
#include "checkpoint/output_file.hpp"
#include "checkpoint/plain_name.hpp"
#include "checkpoint/shelf.hpp"
#include "checkpoint/stream_safetensors.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/version.hpp"

namespace ddpkit {
namespace {

namespace fs = std::filesystem;

std::string folder_name(std::int64_t step) {
  std::string digits = std::to_string(step);
  constexpr std::size_t kDigits = 8;
  digits.insert(0, kDigits - std::min(kDigits, digits.size()), '0');
  return "step-" + digits;
}

void check_content(const CheckpointContent& content) {
  if (content.step < 0) throw UsageError(text("a checkpoint's step is at least 0, got ", content.step));
  std::set<std::string_view> names;
  for (const auto& file : content.files) {
    if (!is_plain_name(file.name))
      throw UsageError(text("\"", file.name, "\" cannot be a checkpoint's file: expected letters, digits, '.', '_' and '-'"));
    if (!names.insert(file.name).second) throw UsageError(text("a checkpoint was given the file \"", file.name, "\" twice"));
  }
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw StorageError(text("cannot make folder ", folder.string(), ": ", error.message(), "; is it writable for this user?"));
}

void remove_leftovers(const fs::path& store) {
  std::vector<fs::path> leftovers;
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(store, ignored))
    if (is_hidden_sibling(item.path().filename().string())) leftovers.push_back(item.path());
  for (const fs::path& leftover : leftovers) discard(leftover);
}

Manifest describe(const CheckpointContent& content, std::int64_t sequence) {
  Manifest manifest;
  manifest.step = content.step;
  manifest.world_size = content.world_size;
  manifest.sequence = sequence;
  manifest.standing = content.standing;
  manifest.sampler = content.sampler;
  manifest.ddpkit_version = version();
  manifest.values = content.values;
  return manifest;
}

FileRecord write_tensors(const fs::path& folder, const CheckpointContent::File& file) {
  OutputFile out(folder / file.name);
  stream_safetensors(out, file.tensors, file.metadata);
  out.finish();
  return {.name = file.name, .size = out.size(), .digest = out.digest()};
}

void write_all(const fs::path& folder, const CheckpointContent& content, Manifest manifest) {
  make_folder(folder);
  for (const auto& file : content.files) manifest.files.push_back(write_tensors(folder, file));
  OutputFile out(folder / Manifest::kFileName);
  out.write(format_manifest(manifest));
  out.finish();
  sync_folder(folder);
}

LatestCheckpoint first_valid(const std::vector<ShelfEntry>& entries) {
  LatestCheckpoint latest;
  for (const ShelfEntry& entry : entries)
    if (!entry.problem.empty()) latest.problems.push_back(entry.problem);
  for (const ShelfEntry& entry : entries) {
    if (!entry.problem.empty()) continue;
    try {
      latest.checkpoint.emplace(entry.folder);
      return latest;
    } catch (const StorageError& error) {
      latest.problems.emplace_back(error.what());
    }
  }
  return latest;
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path folder, const CheckpointOptions& options)
    : folder_(fs::absolute(folder)), options_(options) {}

fs::path CheckpointStore::save(const CheckpointContent& content) {
  check_content(content);
  make_folder(folder_);
  remove_leftovers(folder_);
  const std::vector<ShelfEntry> before = list_shelf(folder_);
  const std::int64_t sequence = before.empty() ? 1 : before.front().sequence + 1;
  const fs::path target = folder_ / folder_name(content.step);
  const fs::path temporary = hidden_sibling(target, "tmp");
  try {
    write_all(temporary, content, describe(content, sequence));
    publish(temporary, target);
  } catch (...) {
    discard(temporary);
    throw;
  }
  const KeepBest keep_best = options_.best ? KeepBest::yes : KeepBest::no;
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(1, options_.keep));
  for (const ShelfEntry& entry : to_delete(list_shelf(folder_), keep, keep_best)) discard(entry.folder);
  return target;
}

LatestCheckpoint CheckpointStore::latest_valid() const {
  return first_valid(list_shelf(folder_));
}

LatestCheckpoint CheckpointStore::best_valid() const {
  std::vector<ShelfEntry> entries = list_shelf(folder_);
  std::erase_if(entries, [](const ShelfEntry& entry) { return entry.standing != Standing::best; });
  return first_valid(entries);
}

}  // namespace ddpkit
