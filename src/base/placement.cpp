#include "ddpkit/base/placement.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

#include "ddpkit/base/text.hpp"
#include "ddpkit/base/text_table.hpp"

namespace ddpkit {
namespace {

struct CpuSetDeleter {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, CpuSetDeleter>;

std::vector<int> members(const CpuSet& set, std::size_t bytes) {
  std::vector<int> cores;
  for (int core = 0; core < static_cast<int>(bytes * 8); ++core)
    if (CPU_ISSET_S(static_cast<std::size_t>(core), bytes, set.get())) cores.push_back(core);
  return cores;
}

std::vector<int> first_cores(unsigned count) {
  std::vector<int> cores;
  for (unsigned core = 0; core < std::max(1U, count); ++core) cores.push_back(static_cast<int>(core));
  return cores;
}

std::string warning_for(std::span<const Placement> placements) {
  std::string ranks;
  for (const Placement& placement : placements)
    if (placement.oversubscribed) ranks += text(ranks.empty() ? "" : ", ", placement.rank);
  if (ranks.empty()) return {};
  return text("\nwarning: more ranks than cores for rank ", ranks,
              ": they take turns and each step waits for the slowest; start fewer ranks or give them more cores");
}

}  // namespace

std::vector<int> allowed_cores() {
  // The kernel refuses a set smaller than its own, which may be larger than cpu_set_t.
  for (std::size_t capacity = CPU_SETSIZE; capacity <= (1U << 20); capacity *= 2) {
    const CpuSet set(CPU_ALLOC(capacity));
    const std::size_t bytes = CPU_ALLOC_SIZE(capacity);
    if (sched_getaffinity(0, bytes, set.get()) == 0) return members(set, bytes);
    if (errno != EINVAL) break;
  }
  return first_cores(std::thread::hardware_concurrency());
}

int threads_for_rank(std::size_t cores, std::size_t node_cores, int local_size) {
  const std::size_t share = node_cores / static_cast<std::size_t>(std::max(1, local_size));
  return static_cast<int>(std::max<std::size_t>(1, std::min(cores, share)));
}

std::optional<int> threads_by_environment() {
  const char* said = std::getenv("OMP_NUM_THREADS");
  if (said == nullptr) return std::nullopt;
  const std::string_view list = said;
  int threads = 0;
  const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), threads);
  const bool whole = end == list.data() + list.size() || *end == ',';
  if (error != std::errc() || !whole || threads < 1) return std::nullopt;
  return threads;
}

std::string format_cores(std::span<const int> cores) {
  std::string out;
  for (std::size_t begin = 0; begin < cores.size();) {
    std::size_t end = begin + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    out += text(out.empty() ? "" : ",", cores[begin]);
    if (end - begin > 1) out += text('-', cores[end - 1]);
    begin = end;
  }
  return out.empty() ? "-" : out;
}

std::string placement_table(std::span<const Placement> placements) {
  using enum TextTable::Align;
  TextTable table({{"rank"}, {"host", left}, {"cores", left}, {"threads"}, {"device", left}});
  for (const Placement& p : placements) table.add({text(p.rank), p.host, format_cores(p.cores), text(p.threads), p.device});
  return table.str() + warning_for(placements);
}

}  // namespace ddpkit
