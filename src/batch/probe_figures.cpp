#include "ddpkit/batch/probe_figures.hpp"

#include <algorithm>
#include <set>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr double kSteady = 0.2;  // of a rate, to either side

double share(const ProbeFigures::Memory& memory) {
  return memory.limit_bytes > 0 ? static_cast<double>(memory.peak_bytes) / static_cast<double>(memory.limit_bytes) : 0;
}

bool on_cores_of_their_own(std::span<const Placement> placement) {
  std::set<std::pair<std::string, int>> taken;
  for (const Placement& rank : placement)
    for (const int core : rank.cores)
      if (!taken.emplace(rank.host, core).second) return false;
  return true;
}

bool all_on_the_same(std::span<const Placement> placement) {
  const auto like_first = [&](const Placement& rank) {
    return rank.host == placement.front().host && rank.cores == placement.front().cores;
  };
  return std::ranges::all_of(placement, like_first);
}

std::string cores_of_each(std::span<const Placement> placement) {
  constexpr std::size_t kShown = 8;
  std::string list;
  for (const Placement& rank : placement.first(std::min(kShown, placement.size())))
    list += text(list.empty() ? "" : ", ", format_cores(rank.cores));
  return list + (placement.size() > kShown ? ", ..." : "");
}

}  // namespace

bool ProbeFigures::crowded() const noexcept {
  return std::ranges::any_of(placement, &Placement::oversubscribed);
}

bool ProbeFigures::unsteady() const noexcept {
  return ran() && rate.high > 0 &&
         (rate.high > (1 + kSteady) * samples_per_second || rate.low < (1 - kSteady) * samples_per_second);
}

int ProbeFigures::threads() const noexcept {
  if (placement.empty()) return 0;
  return std::ranges::min(placement, {}, &Placement::threads).threads;
}

const ProbeFigures::Memory* ProbeFigures::fullest() const noexcept {
  const auto fullest = std::ranges::max_element(memory, {}, share);
  return fullest == memory.end() || fullest->limit_bytes == 0 ? nullptr : &*fullest;
}

std::string binding_text(std::span<const Placement> placement) {
  if (placement.empty()) return "not known";
  if (placement.size() == 1) return text("on the cores ", format_cores(placement.front().cores));
  if (on_cores_of_their_own(placement)) return text("each bound to cores of its own: ", cores_of_each(placement));
  if (all_on_the_same(placement))
    return text("not bound: ", placement.size(), " ranks share the cores ", format_cores(placement.front().cores), " of ",
                placement.front().host);
  return text("bound to cores that overlap: ", cores_of_each(placement));
}

}  // namespace ddpkit
