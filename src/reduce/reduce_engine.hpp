#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
///
/// A rank that is alone has no buckets: gradients stay where autograd leaves them.
class GradReducer::Engine final : public GradReceiver {
 public:
  /// `modes` must outlive the engine.
  Engine(std::vector<NamedTensor> parameters, Channels channels, const ReducerOptions& options, const Modes& modes);

  void gradient_ready(std::size_t index, const at::Tensor& parameter) override;

  void remember_backward();
  void repeat_backward();
  double finish(std::span<double> rider);
  void discard();
  void abandon(std::span<double> rider);
  int given_up() const noexcept { return given_up_; }
  void apply_scale(double scale);
  double local_squared_norm();

  const BucketPlan& plan() const noexcept { return plan_; }
  std::vector<GradientSpec> gradient_specs() const;
  void set_plan(const BucketPlan& plan);
  void record_readiness(Readiness readiness);
  std::vector<Moment> ready_moments() const;
  const ReduceCounters& counters() const noexcept { return counters_; }
  std::vector<at::Tensor> gradients() const;
  Channels channels() const noexcept { return channels_; }
  std::vector<std::string> unused() const;
  std::vector<NamedTensor> parameters() const;

  Delivery delivery() const noexcept { return options_.deliver; }
  int plans() const noexcept { return plans_; }
  std::span<const std::byte* const> kept(std::size_t index) const noexcept;
  ReduceOp kept_op() const noexcept { return op_; }
  double kept_squared_norms() const noexcept { return kept_squared_norms_; }

 private:
  enum class State {
    idle,    ///< no gradient of the next window has come; those of the last belong to the caller
    open,    ///< gradients are coming in
    broken,  ///< a collective failed: nothing may be sent any more
  };

  /// A parameter and what happened to it in this window.
  struct Entry {
    NamedTensor parameter;
    bool planned = false;      ///< has a place in the plan; not while frozen
    std::size_t bucket = 0;    ///< of the plan
    std::size_t gradient = 0;  ///< its number in the plan
    at::Tensor slot{};         ///< its place in the bucket; undefined for a rank that is alone
    at::Tensor handed_over{};  ///< what the caller sees of the slot; kept, since making it takes time
    bool filled = false;       ///< this rank's sum is there: in the slot, or in `.grad` of a rank that is alone
    bool in_place = false;     ///< `.grad` is the slot itself: the caller lets gradients add up there
    bool counted = false;      ///< counted as ready in the sending backward
    bool used = false;         ///< by any rank, in the last window
    std::optional<SquaredNorm> squared_norm{};  ///< of this rank's sum, where it was measured
  };

  /// What the recorded backward did to a parameter.
  struct Remembered {
    bool filled = false;
    at::Tensor gradient;
  };

  bool alone() const noexcept { return store_ == nullptr; }
  void check_equal_on_all_ranks(const ReducerOptions& options);
  void make_plan();
  void adopt(BucketPlan plan);
  void make_transport();
  void place_in_buckets();
  bool trainable_changed() const;

  void open_window();
  void take(Entry& entry, at::Tensor& gradient);
  void move_to_slot(Entry& entry, at::Tensor& gradient);
  void count(Entry& entry);
  void send_early(std::size_t bucket);
  void send(std::size_t bucket);
  void send_rest();
  enum class Part { whole, given_up };  ///< what this rank brings to the window
  void exchange(std::span<double> rider, Part part);
  void exchange_record(std::span<double> rider, Part part, double squared_norm);
  void hand_over();
  void forget_gradients();
  void adopt_newcomers();
  void make_room_for_newcomers();
  void reduce_newcomers(std::span<Entry* const> newcomers, ReduceOp op);
  void move_to_new_plan();
  void require_all_used() const;
  [[noreturn]] void refuse_late(const Entry& entry) const;

  Channels channels_;
  ReducerOptions options_;
  const Modes& modes_;
  std::vector<Entry> entries_;
  std::vector<GradHook> hooks_;
  std::vector<std::size_t> entry_of_;  // by gradient of the plan
  BucketPlan plan_;
  std::unique_ptr<BucketTransport> transport_;
  ReduceOp op_ = ReduceOp::sum;
  int plans_ = 0;
  std::unique_ptr<BucketStore> store_;  // none for a rank that is alone

  std::vector<Remembered> remembered_;  // by entry; empty: nothing is, or not since the plan was made

  State state_ = State::idle;
  std::vector<std::int64_t> missing_;  // by bucket: gradients not counted yet
  std::size_t full_ = 0;               // buckets, in order: the window's last backward is past them
  std::size_t sent_ = 0;               // buckets, in order
  std::vector<Work> works_;            // of those that travel
  std::vector<double> record_;         // rider, used by entry, squared norm, "I give up", "my trainable parameters changed"
  double kept_squared_norms_ = 0;
  bool newcomers_ = false;
  int given_up_ = 0;  ///< ranks that abandoned the last window
  ReduceCounters counters_;
  std::vector<Moment> ready_;  // by entry, while recorded
};

}  // namespace ddpkit
