#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/reduce/grad_reducer.hpp"
#include "reduce/bucket_store.hpp"
#include "reduce/grad_hook.hpp"
#include "reduce/squared_norm.hpp"

namespace ddpkit {

/// What stands behind a GradReducer: the state of one window and the hooks that move it on.
class GradReducer::Engine {
 public:
  Engine(std::vector<NamedTensor> parameters, Channels channels, const ReducerOptions& options);

  /// A backward has left a gradient in `parameters_[index]`.
  void gradient_ready(std::size_t index, const at::Tensor& parameter, bool syncing);

  double finish(std::span<double> rider);
  void discard();
  void abandon(std::span<double> rider);
  int given_up() const noexcept { return given_up_; }
  void apply_scale(double scale);
  double local_squared_norm();

  const BucketPlan& plan() const noexcept { return store_->plan(); }
  const ReduceCounters& counters() const noexcept { return counters_; }
  std::vector<at::Tensor> gradients() const;
  Channels channels() const noexcept { return channels_; }
  std::vector<std::string> unused() const;

  /// Who asks whether this backward sends; set once by the owner.
  std::function<bool()> syncing;

  /// Likewise, whether this backward measures.
  std::function<bool()> measuring;

 private:
  enum class State {
    idle,    ///< no gradient of the next window has come; those of the last belong to the caller
    open,    ///< gradients are coming in
    broken,  ///< a collective failed: nothing may be sent any more
  };

  /// A parameter, its hook, and what happened to it in this window.
  struct Entry {
    NamedTensor parameter;
    std::optional<std::size_t> gradient;        ///< index in the plan; none while frozen
    bool filled = false;                        ///< the slot holds this rank's sum
    bool in_slot = false;                       ///< `.grad` is the slot itself: the caller lets gradients add up there
    bool counted = false;                       ///< counted as ready in the sending backward
    bool used = false;                          ///< by any rank, in the last window
    std::optional<SquaredNorm> squared_norm{};  ///< of the slot before it was sent, where it was measured
  };

  void check_equal_on_all_ranks(const ReducerOptions& options);
  void make_plan();
  bool trainable_changed() const;

  void open_window();
  void take(Entry& entry, const at::Tensor& parameter);
  void count(Entry& entry);
  void send_full_buckets();
  void send(std::size_t bucket);
  void send_rest();
  enum class Part { whole, given_up };  ///< what this rank brings to the window
  void exchange(std::span<double> rider, Part part);
  void hand_over();
  void forget_gradients();
  void adopt_newcomers();
  void make_room_for_newcomers();
  void require_all_used() const;
  [[noreturn]] void refuse_late(const Entry& entry) const;

  Channels channels_;
  ReducerOptions options_;
  std::vector<Entry> entries_;
  std::vector<GradHook> hooks_;
  std::vector<std::size_t> entry_of_;  // by gradient of the plan
  std::unique_ptr<BucketTransport> transport_;
  std::unique_ptr<BucketStore> store_;

  State state_ = State::idle;
  std::vector<std::int64_t> missing_;  // by bucket: gradients not counted yet
  std::vector<Work> works_;            // of the buckets sent, in order
  std::vector<double> record_;         // rider, used flags by entry, "I give up", "my set of trainable parameters changed"
  bool newcomers_ = false;
  int given_up_ = 0;  ///< ranks that abandoned the last window
  ReduceCounters counters_;
};

}  // namespace ddpkit
