#include "ddpkit/base/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace ddpkit {
namespace {

namespace fs = std::filesystem;

/// How one version of control groups calls its files, and where they are.
struct Version {
  std::string_view controllers;  ///< second field of its line in /proc/self/cgroup
  std::string_view mount;
  std::string_view limit;
  std::string_view usage;
  std::string_view inactive_cache;  ///< lines of memory.stat, with what groups below this one hold
  std::string_view active_cache;
};

constexpr Version kVersions[] = {
    {"", "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file", "active_file"},
    {"memory", "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
     "total_active_file"},
};

/// Empty where the file is missing or says "max".
std::optional<std::int64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

/// The number that follows the word `name`.
std::optional<std::int64_t> number_after(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string word; in >> word;)
    if (std::int64_t number = 0; word == name && in >> number) return number;
  return std::nullopt;
}

/// The group of this process, as its line "4:memory:/jobs/7" says.
std::optional<fs::path> own_group(const fs::path& root, std::string_view controllers) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto listed = std::string_view(line).substr(first + 1, second - first - 1);
    const bool found = ("," + std::string(listed) + ",").find("," + std::string(controllers) + ",") != std::string::npos;
    if (found) return fs::path(line.substr(second + 1)).relative_path();
  }
  return std::nullopt;
}

std::optional<std::int64_t> left_in(const fs::path& group, const Version& version) {
  const auto limit = number_in(group / version.limit);
  const auto usage = number_in(group / version.usage);
  if (!limit || !usage) return std::nullopt;
  const fs::path details = group / "memory.stat";
  const std::int64_t cache =
      number_after(details, version.inactive_cache).value_or(0) + number_after(details, version.active_cache).value_or(0);
  return std::clamp<std::int64_t>(*limit - *usage + cache, 0, *limit);
}

/// Empty is no bound.
std::optional<std::int64_t> smaller(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

/// A group is bound by all above it. Inside a container the path may be the host's, of which only the top is to be seen.
std::optional<std::int64_t> left_in_groups(const fs::path& root, const Version& version) {
  std::optional<fs::path> group = own_group(root, version.controllers);
  if (!group) return std::nullopt;
  std::optional<std::int64_t> left = left_in(root / version.mount, version);
  for (; !group->empty(); *group = group->parent_path()) left = smaller(left, left_in(root / version.mount / *group, version));
  return left;
}

std::optional<std::int64_t> left_on_node(const fs::path& root) {
  const auto kibibytes = number_after(root / "proc/meminfo", "MemAvailable:");
  return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> available_memory(const fs::path& root) {
  std::optional<std::int64_t> left = left_on_node(root);
  for (const Version& version : kVersions) left = smaller(left, left_in_groups(root, version));
  return left;
}

}  // namespace ddpkit
