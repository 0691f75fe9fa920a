#include "train/memory_ladder.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/fields.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "train/rung_file.hpp"

namespace ddpkit {
namespace {

std::unique_ptr<MemoryMeter> meter_for(const TrainerContext& context) {
  if (context.device.is_cpu() && !cpu_memory_installed()) return nullptr;
  return make_memory_meter(context.device, context.config.memory.limit);
}

/// How the next run begins where this rung leads.
std::string hint_for(const RungDecision& decision) {
  switch (decision.rung) {
    case Rung::halve_micro: return text("; set batch.max_micro: ", decision.micro, " to start there next time");
    case Rung::bf16: return "; set memory.bf16: always to start there next time";
    case Rung::recompute: return "; set memory.recompute: always to start there next time";
    case Rung::release_cache:
    case Rung::end: break;
  }
  return {};
}

}  // namespace

MemoryLadder::MemoryLadder(const Parts& parts)
    : parts_(parts), ranks_(parts.context.channels.control), meter_(meter_for(parts.context)), planned_(parts.loader.micro()) {
  state_.may_climb = parts.context.config.memory.when_full == WhenFull::ladder;
  parts_.stepper.set_on_shortage(OnShortage::report);
}

StepResult MemoryLadder::run(Window window, const LossFunction& loss) {
  state_.rungs_in_window = 0;
  state_.cache_released = false;
  if (meter_) meter_->reset_peak();
  StepResult result = parts_.stepper.run(window, loss);
  while (result.update == StepResult::Update::given_up) {
    parts_.recorder.forget_window();
    climb(window);
    if (meter_) meter_->reset_peak();
    result = parts_.stepper.run(window, loss);
  }
  watch_for_leaks(result.step);
  return result;
}

void MemoryLadder::watch_for_leaks(std::int64_t step) {
  constexpr std::int64_t kDeviceStride = 8;  // asking a driver takes longer than asking ourselves
  if (meter_ && (parts_.context.device.is_cpu() || step % kDeviceStride == 0)) leaks_.observe(meter_->read().live);
}

/// Collective: after a window that was given up all ranks come here.
void MemoryLadder::climb(Window& window) {
  const std::vector<MemoryAccount> accounts = gather_accounts();
  const std::string quotes = quote_allocators();
  const RungDecision decision = decide(window, accounts);
  tell(decision, accounts, quotes);
  if (decision.rung == Rung::end)
    throw on_all_ranks(Error(text("step ", parts_.stepper.progress().step, ": ", decision.reason, quotes), ExitStatus::memory));
  act(decision, window);
}

MemoryAccount MemoryLadder::account() const {
  const MemoryReading now = meter_ ? meter_->read() : MemoryReading{};
  return {.phase = parts_.stepper.shortage().phase,
          .live = now.live,
          .peak = now.peak,
          .reserved = now.reserved,
          .limit = now.limit,
          .wanted = now.wanted,
          .growth = leaks_.growth()};
}

std::vector<MemoryAccount> MemoryLadder::gather_accounts() const {
  const MemoryAccount mine = account();
  const std::array record{
      static_cast<std::int64_t>(mine.phase), mine.live, mine.peak, mine.reserved, mine.limit, mine.wanted, mine.growth};
  std::vector<std::int64_t> all(record.size() * static_cast<std::size_t>(ranks_.world_size()));
  ranks_.all_gather(std::span<const std::int64_t>(record), std::span(all), "memory accounts").wait();
  std::vector<MemoryAccount> accounts;
  for (auto value = all.begin(); value != all.end(); value += std::ssize(record))
    accounts.push_back({.phase = static_cast<MemoryPhase>(value[0]),
                        .live = value[1],
                        .peak = value[2],
                        .reserved = value[3],
                        .limit = value[4],
                        .wanted = value[5],
                        .growth = value[6]});
  return accounts;
}

/// What the first allocator that refused said.
std::string MemoryLadder::quote_allocators() const {
  const std::vector<std::string> all = gather_texts(ranks_, parts_.stepper.shortage().what);
  const auto first = std::ranges::find_if(all, [](const std::string& what) { return !what.empty(); });
  return first == all.end() ? "" : text(" (rank ", first - all.begin(), ": ", *first, ")");
}

RungDecision MemoryLadder::decide(const Window& window, const std::vector<MemoryAccount>& accounts) const {
  LadderState state = state_;
  state.micro = window.micro();
  state.local_batch = window.local_batch();
  const MemoryOptions& options = parts_.context.config.memory;
  state.bf16_left = options.bf16 == Saving::when_full && !parts_.savings.bf16;
  state.recompute_left = options.recompute == Saving::when_full && !parts_.savings.recompute;
  return next_rung(state, accounts);
}

void MemoryLadder::act(const RungDecision& decision, Window& window) {
  ++state_.rungs_in_window;
  switch (decision.rung) {
    case Rung::release_cache:
      state_.cache_released = true;
      if (meter_) meter_->release_cache();
      break;
    case Rung::bf16: parts_.savings.bf16 = true; break;
    case Rung::recompute: parts_.savings.recompute = true; break;
    case Rung::halve_micro:
      window = window.recut(decision.micro);
      use_micro(decision.micro);
      break;
    case Rung::end: break;
  }
}

void MemoryLadder::use_micro(std::int64_t micro) {
  parts_.loader.set_micro(micro);
  learned_ = {.planned = planned_, .fits = micro};
}

void MemoryLadder::tell(const RungDecision& decision, const std::vector<MemoryAccount>& accounts, const std::string& quotes) {
  if (ranks_.rank() != 0) return;
  const Progress& progress = parts_.stepper.progress();
  parts_.recorder.record_event(progress, decision.reason, Shown::in_files);  // the log tells more
  append_rung(parts_.context, {.step = progress.step, .decision = decision, .accounts = accounts});
  if (decision.rung == Rung::end) return;  // the error says it
  parts_.context.log.warning("memory", text("step ", progress.step, ": ", decision.reason, hint_for(decision), quotes));
}

void MemoryLadder::remember(const FittingMicro& learned) {
  const BatchOptions& batch = parts_.context.config.batch;
  const bool asks_otherwise = batch.max_micro || learned.planned != planned_ || learned.fits >= parts_.loader.micro();
  if (asks_otherwise) return;
  use_micro(learned.fits);
  parts_.context.log.info("memory", text("micro-batch ", learned.fits, " instead of ", planned_, ", which did not fit ",
                                         "before this run was saved (set batch.max_micro to decide yourself)"));
}

}  // namespace ddpkit
