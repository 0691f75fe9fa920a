#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ddpkit/batch/ladder.hpp"
#include "ddpkit/batch/leak_watch.hpp"
#include "ddpkit/data/loader.hpp"
#include "ddpkit/step/stepper.hpp"
#include "ddpkit/tensor/memory_meter.hpp"
#include "ddpkit/train/savings.hpp"
#include "ddpkit/train/trainer.hpp"
#include "train/fitting_micro.hpp"
#include "train/recorder.hpp"

namespace ddpkit {

/// Runs windows until memory is enough for them: where that of any rank is not, all ranks give the window up, take the next
/// rung of the ladder together, and try the same window again.
class MemoryLadder {
 public:
  /// All must outlive it. Makes `stepper` report shortages.
  struct Parts {
    const TrainerContext& context;
    Stepper& stepper;
    Loader& loader;
    Recorder& recorder;
    Savings& savings;
  };
  explicit MemoryLadder(const Parts& parts);

  /// One step. Collective. Throws Error on all ranks, with what the model needs, when there is no rung left, when the ladder
  /// may not be climbed, and for a leak.
  StepResult run(Window window, const LossFunction& loss);

  /// Begins with what an earlier part of the run learned, unless the configuration asks for something else by now.
  void remember(const FittingMicro& learned);

  /// The largest micro-batch that fits, once one did not. Equal on all ranks.
  const std::optional<FittingMicro>& learned() const noexcept { return learned_; }

 private:
  void watch_for_leaks(std::int64_t step);
  void climb(Window& window);
  MemoryAccount account() const;
  std::vector<MemoryAccount> gather_accounts() const;
  std::string quote_allocators() const;
  RungDecision decide(const Window& window, const std::vector<MemoryAccount>& accounts) const;
  void act(const RungDecision& decision, Window& window);
  void tell(const RungDecision& decision, const std::vector<MemoryAccount>& accounts, const std::string& quotes);
  void use_micro(std::int64_t micro);

  Parts parts_;
  Communicator& ranks_;
  std::unique_ptr<MemoryMeter> meter_;  // none where nothing counts
  LeakWatch leaks_;
  LadderState state_;
  std::int64_t planned_;
  std::optional<FittingMicro> learned_;
};

}  // namespace ddpkit
