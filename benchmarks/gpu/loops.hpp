#pragma once

#include <memory>
#include <vector>

#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/optim/optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/step/stepper.hpp"
#include "workload.hpp"

namespace bench {

/// What a person would write on LibTorch alone, at its best: its fused AdamW, and no look at the loss.
class BareLoop {
 public:
  explicit BareLoop(Workload workload);
  void step();
  const Workload& workload() const noexcept { return workload_; }

 private:
  void update();

  Workload workload_;
  ddpkit::LossFunction loss_;
  std::vector<at::Tensor> parameters_, first_moments_, second_moments_, updates_;
};

/// The same work through ddpkit.
class DdpkitLoop {
 public:
  struct Settings {
    ddpkit::ReducerOptions reducer{};
    ddpkit::StepperOptions stepper{};
  };

  /// `channels` must outlive the loop.
  DdpkitLoop(Workload workload, ddpkit::Channels channels, const Settings& settings);
  DdpkitLoop(Workload workload, ddpkit::Channels channels) : DdpkitLoop(std::move(workload), channels, {}) {}

  ddpkit::StepResult step() { return stepper_.run(std::span(&workload_.batch, 1), loss_); }
  const Workload& workload() const noexcept { return workload_; }
  const ddpkit::ReduceCounters& counters() const { return reducer_.counters(); }

 private:
  Workload workload_;
  ddpkit::LossFunction loss_;
  ddpkit::LrSchedule schedule_;
  std::unique_ptr<ddpkit::Optimizer> optimizer_;
  ddpkit::GradReducer reducer_;
  ddpkit::Stepper stepper_;
};

}  // namespace bench
