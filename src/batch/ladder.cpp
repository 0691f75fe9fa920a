#include "ddpkit/batch/ladder.hpp"

#include <algorithm>
#include <vector>

#include "ddpkit/base/fields.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr double kFullShare = 0.9;
constexpr double kCachedShare = 0.05;
constexpr double kLeakShare = 0.01;
constexpr std::size_t kRanksTold = 4;

std::string bytes(std::int64_t count) {
  return bytes_figure(static_cast<double>(count));
}

bool failed(const MemoryAccount& account) {
  return account.phase != MemoryPhase::none;
}

/// Reserved and not even used at the peak.
std::int64_t cached(const MemoryAccount& account) {
  return std::max<std::int64_t>(0, account.reserved - account.peak);
}

bool fragmented(const MemoryAccount& account) {
  return static_cast<double>(cached(account)) >= kCachedShare * static_cast<double>(account.limit) && cached(account) > 0;
}

bool plainly_full(const MemoryAccount& account) {
  if (account.limit <= 0 || fragmented(account)) return false;
  return account.wanted > account.limit || static_cast<double>(account.peak) >= kFullShare * static_cast<double>(account.limit);
}

bool leaks(const MemoryAccount& account) {
  const auto whole = static_cast<double>(account.limit > 0 ? account.limit : account.peak);
  return account.growth > 0 && static_cast<double>(account.growth) >= kLeakShare * whole;
}

std::string describe(std::size_t rank, const MemoryAccount& account) {
  std::string words = text("rank ", rank, " in ", name_of(account.phase));
  if (account.wanted > 0)
    words += text(", ", bytes(account.wanted), " wanted");
  else if (account.peak > 0)
    words += text(", peak ", bytes(account.peak));
  if (account.limit > 0) words += text(" of ", bytes(account.limit));
  if (fragmented(account))
    words += text(", fragmented: ", bytes(cached(account)),
                  " cached and never used (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True avoids that)");
  return words;
}

/// "out of memory on rank 1 in backward, peak 61.2 MiB of 64 MiB; rank 3 ..."
std::string describe(std::span<const MemoryAccount> accounts) {
  std::string words = "out of memory on ";
  std::size_t told = 0;
  std::size_t untold = 0;
  for (std::size_t rank = 0; rank < accounts.size(); ++rank) {
    if (!failed(accounts[rank])) continue;
    if (told == kRanksTold)
      ++untold;
    else
      words += text(told++ == 0 ? "" : "; ", describe(rank, accounts[rank]));
  }
  return untold == 0 ? words : text(words, "; and ", untold, " more");
}

/// The worst leak of a rank that failed, in words; empty where there is none.
std::string describe_leak(std::span<const MemoryAccount> accounts) {
  std::size_t worst = accounts.size();
  for (std::size_t rank = 0; rank < accounts.size(); ++rank)
    if (failed(accounts[rank]) && leaks(accounts[rank]) &&
        (worst == accounts.size() || accounts[rank].growth > accounts[worst].growth))
      worst = rank;
  if (worst == accounts.size()) return {};
  return text("a leak on rank ", worst, ": live memory after a step has grown step for step, by ",
              bytes(accounts[worst].growth),
              " over the last windows; something keeps what belongs to one step, such as a loss ",
              "or an output in a list (keep loss.item<double>(), or detach() it)");
}

std::string describe_need(const LadderState& state, std::span<const MemoryAccount> accounts) {
  std::int64_t most = 0;
  for (const MemoryAccount& account : accounts)
    if (failed(account)) most = std::max({most, account.peak, account.wanted});
  return text("a micro-batch of ", state.micro, state.micro == 1 ? " sample" : " samples", " needs more than ",
              most > 0 ? bytes(most) : "there is");
}

constexpr const char* kMoreRoom =
    "give each rank more (memory.limit, fewer ranks on a node, a larger device), allow memory.recompute or memory.bf16: "
    "when_full, or make the model smaller";

RungDecision end(const LadderState& state, std::string reason) {
  return {.rung = Rung::end, .micro = state.micro, .reason = std::move(reason)};
}

RungDecision halve(const LadderState& state, const std::string& what) {
  const std::int64_t micro = halved_micro(state.micro, state.local_batch);
  const auto count = [&](std::int64_t size) { return (state.local_batch + size - 1) / size; };
  return {.rung = Rung::halve_micro,
          .micro = micro,
          .reason = text(what, "; micro-batch ", state.micro, " becomes ", micro, ", accumulated ", count(micro),
                         " instead of ", count(state.micro), " times")};
}

}  // namespace

std::int64_t halved_micro(std::int64_t micro, std::int64_t local_batch) {
  micro = std::min(micro, local_batch);
  for (std::int64_t candidate = (micro + 1) / 2; 3 * candidate >= micro && candidate >= 1 && candidate < micro; --candidate)
    if (local_batch % candidate == 0) return candidate;
  return std::max<std::int64_t>(1, micro / 2);
}

RungDecision next_rung(const LadderState& state, std::span<const MemoryAccount> accounts) {
  const std::string what = describe(accounts);
  if (const std::string leak = describe_leak(accounts); !leak.empty()) return end(state, text(what, "; ", leak));
  if (!state.may_climb)
    return end(state, text(what, "; ", describe_need(state, accounts),
                           "; set a smaller batch.max_micro (or batch.micro), or memory.when_full: ladder"));
  if (state.rungs_in_window >= LadderState::kMostRungs)
    return end(state, text(what, " again after ", state.rungs_in_window, " rungs of the ladder; ",
                           describe_need(state, accounts), "; ", kMoreRoom));
  const bool full =
      std::ranges::all_of(accounts, [](const auto& account) { return !failed(account) || plainly_full(account); });
  const auto keep_micro = [&](Rung rung, std::string_view action) {
    return RungDecision{.rung = rung, .micro = state.micro, .reason = text(what, "; ", action)};
  };
  if (!state.cache_released && !full) return keep_micro(Rung::release_cache, "cached blocks are given back");
  if (state.bf16_left) return keep_micro(Rung::bf16, "forward and backward go on in bfloat16");
  if (state.recompute_left) return keep_micro(Rung::recompute, "activations are computed again in backward from here on");
  if (std::min(state.micro, state.local_batch) > 1) return halve(state, what);
  return end(state, text(what, "; ", describe_need(state, accounts), ", and there is no smaller one; ", kMoreRoom));
}

}  // namespace ddpkit
