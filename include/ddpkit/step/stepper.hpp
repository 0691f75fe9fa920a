#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ddpkit/data/window.hpp"
#include "ddpkit/optim/optimizer.hpp"
#include "ddpkit/reduce/reducer.hpp"
#include "ddpkit/schedule/lr_schedule.hpp"
#include "ddpkit/step/ballot.hpp"
#include "ddpkit/step/noise_probe.hpp"
#include "ddpkit/step/shortage.hpp"
#include "ddpkit/step/step_result.hpp"
#include "ddpkit/step/stepper_options.hpp"
#include "ddpkit/tensor/batch.hpp"
#include "ddpkit/tensor/kept_tensors.hpp"
#include "ddpkit/tensor/loss.hpp"

namespace ddpkit {

class RecordedPass;

/// The user's loss of one micro-batch. Called with at least one row; the mean it returns must be over `count` items. Evaluation
/// calls it too, without recording a graph: what takes gradients inside asks at::GradMode::is_enabled() first.
using LossFunction = std::function<Loss(const Batch&)>;

/// What Stepper::run does with a window for which the memory of some rank was not enough.
enum class OnShortage {
  raise,   ///< throws Error on all ranks
  report,  ///< returns Update::given_up: whoever asked for this tries the window again, perhaps recut
};

/// Takes one optimizer step per window. The only one who scales anything.
///
/// Each micro-batch is back-propagated with the factor count / expected count, which is 1/accumulate when all are equal, and
/// after reduction the correction expected / real count is folded into the optimizer's pass together with 1/N and clipping. So
/// N ranks x K micro-batches give the update of one process on the union of their rows, for short windows, token counts and
/// unequal ranks alike. Gradients travel during the window's last micro-batch only; all else that ranks have to know travels in
/// the Ballot.
///
/// A rank whose memory runs out (c10::OutOfMemoryError, std::bad_alloc) when it fetches a batch, in forward, inside backward or
/// while the optimizer makes its state still answers what its peers wait for. Then no rank updates, progress stands still, all
/// gradients are undefined, and `buffers` are what they were: the same window can be run again. Other exceptions leave run() on
/// the rank on which they arise.
class Stepper {
 public:
  /// The three must outlive the stepper. Throws ConfigError for CudaGraph::on where there is nothing to record with.
  Stepper(Reducer& reducer, Optimizer& optimizer, const LrSchedule& schedule, const StepperOptions& options = {});
  ~Stepper();

  /// One step on a window of the loader. Collective, blocking. Throws on all ranks with ExitStatus::diverged when a loss or
  /// gradient is not finite anywhere and the policy says stop, and for a shortage of memory unless it is to be reported;
  /// nothing has been updated then.
  StepResult run(const Window& window, const LossFunction& loss);

  /// One step on own micro-batches. Every rank passes the same number of them, some perhaps without rows; UsageError on all
  /// ranks otherwise. Schedules that scale with the global batch need it: set_progress({.global_batch = ...}).
  StepResult run(std::span<const Batch> micro_batches, const LossFunction& loss);

  /// Everything random in a micro-batch, such as dropout, follows from (seed, step, number of the micro-batch in the window).
  void set_seed(std::uint64_t seed) noexcept { seed_ = seed; }
  void set_device(c10::Device device) noexcept { device_ = device; }

  /// Whether StepResult::noise is filled in. Changes nothing else, to the bit, and adds no collective. All ranks alike.
  void set_noise(GradientNoise noise) noexcept { noise_.set(noise); }

  /// Where the run stands; the next window is this step. Set when a run is resumed.
  const Progress& progress() const noexcept { return progress_; }
  void set_progress(const Progress& progress) noexcept { progress_ = progress; }

  void set_on_shortage(OnShortage on_shortage) noexcept { on_shortage_ = on_shortage; }

  /// This rank's account of the last window, where that was given up.
  const Shortage& shortage() const noexcept { return shortage_; }

  /// Called on each micro-batch after its backward, for metrics that need the model's output.
  std::function<void(const Batch&, const Loss&)> on_micro_batch;

  /// Asked once per window; the most urgent answer of any rank comes back on all ranks as StepResult::wish.
  std::function<Wish()> wish;

  /// What forward writes, such as running statistics: kept at the start of each window, and put back when the window is given
  /// up or skipped. Left empty nothing is kept.
  std::function<std::vector<NamedTensor>()> buffers;

 private:
  struct MicroBatches;

  /// A loss that the device may still be working on.
  struct PendingLoss {
    at::Tensor mean;
    double count;
    std::int64_t micro_index;
    std::int64_t rows;
    std::optional<std::int64_t> first_id;
  };

  StepResult step(const MicroBatches& window, const LossFunction& loss);
  void require_recordable(const MicroBatches& window) const;
  Ballot open_ballot(const MicroBatches& window) const;
  void try_window(const MicroBatches& window, const LossFunction& loss, Ballot& ballot);
  void make_room();
  void put_back_buffers();
  void back_propagate(const MicroBatches& window, const LossFunction& loss, Ballot& ballot);
  const Batch& fetch(const MicroBatches& window, std::int64_t index, Batch& room, Ballot& ballot);
  void back_propagate_one(const Batch& batch, double expected_count, const LossFunction& loss, Ballot& ballot);
  void backward(const at::Tensor& loss, double factor);
  Loss forward_and_backward(const Batch& batch, double expected_count, const LossFunction& loss);
  void read_losses(Ballot& ballot);
  double exchange(Ballot& ballot, StepResult& result);
  void give_up(StepResult& result);
  void update_or_end(double scale, StepResult& result);
  void update(double scale, StepResult& result);
  bool may_update(const Ballot& ballot, StepResult& result);
  void refuse_update(const std::string& what, StepResult& result);

  Reducer& reducer_;
  Optimizer& optimizer_;
  const LrSchedule& schedule_;
  StepperOptions options_;
  std::uint64_t seed_ = 0;
  c10::Device device_ = c10::kCPU;
  Progress progress_;
  NoiseProbe noise_;
  OnShortage on_shortage_ = OnShortage::raise;
  MemoryPhase phase_ = MemoryPhase::none;  ///< what this rank is doing
  Shortage shortage_;
  KeptTensors kept_;
  at::Tensor factor_;  ///< by which the last loss was weighed
  std::vector<PendingLoss> pending_losses_;
  std::unique_ptr<RecordedPass> recorded_;  ///< where forward and backward are repeated as a graph
  std::string culprit_;                     ///< this rank's account of a loss that is not finite
};

}  // namespace ddpkit
