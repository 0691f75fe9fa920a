#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ddpkit/reduce/channels.hpp"

namespace ddpkit {

/// What a reducer did since it was made. Read it between windows. A rank that is alone issues nothing.
struct ReduceCounters {
  std::int64_t windows = 0;
  std::int64_t collectives = 0;           ///< gradient collectives issued
  std::int64_t bytes = 0;                 ///< of gradients in them
  std::int64_t sent_during_backward = 0;  ///< collectives issued while gradients were still missing
  std::int64_t early_gradients = 0;  ///< gradients of the last window that became ready after its first collective had started
  double exposed_seconds = 0;        ///< time spent waiting for collectives after backward
};

/// Brings the gradients of a window's backwards together over all ranks. All ranks make the same calls in the same order.
///
///     {
///       auto pause = reducer.no_sync();       // every backward of the window but the last
///       loss_a.backward();
///     }
///     loss_b.backward();                      // gradients may leave from here on
///     reducer.finish();                       // every parameter's .grad is the mean over ranks
///
/// One window at a time, from one thread. Between `finish` and the next backward gradients belong to the caller.
class Reducer {
 public:
  virtual ~Reducer() = default;

  /// Something that holds while it lives. Nests.
  class [[nodiscard]] Scope {
   public:
    explicit Scope(int& depth) : depth_(&depth) { ++*depth_; }
    Scope(Scope&& other) noexcept : depth_(std::exchange(other.depth_, nullptr)) {}
    Scope& operator=(Scope&&) = delete;
    ~Scope() {
      if (depth_ != nullptr) --*depth_;
    }

   private:
    int* depth_;
  };

  /// While it lives, backward only adds up on this rank.
  using NoSync = Scope;
  NoSync no_sync() { return NoSync(modes_.no_sync); }

  /// While it lives, backward also measures what it leaves behind, at the moment when that is in the cache.
  Scope measure_norm() { return Scope(modes_.measure); }

  /// Squared norm of what this rank has added up in the window so far, before anything is reduced. Before `finish`; not
  /// collective. Cheap after a backward under `measure_norm`, else a pass over the gradients. NaN in a window in which the set
  /// of trainable parameters has changed.
  virtual double local_squared_norm() = 0;

  /// The backward of this window, which ran inside `no_sync`, has been recorded for a device and will be repeated there without
  /// the host: what it did to gradients is remembered.
  virtual void remember_backward() = 0;

  /// Takes note that the remembered backward is about to run again, in a new window whose gradients are undefined so far.
  /// Throws UsageError when the set of trainable parameters has changed since, since then gradients belong elsewhere.
  virtual void repeat_backward() = 0;

  /// Ends the window: every parameter that any rank used has in `.grad` the mean over ranks of what the ranks added up; the
  /// others' `.grad` is undefined, and all are when a rank abandoned the window. Collective, blocking. Throws CommError, and
  /// UsageError on all ranks for Unused::error.
  void finish() { apply_scale(finish_unscaled({})); }

  /// As `finish`, but leaves a factor to be applied by whoever reads the gradients next, and returns it. `rider` travels along
  /// behind the last bucket: its elements come back summed over the ranks.
  virtual double finish_unscaled(std::span<double> rider) = 0;

  /// Forgets a window of which nothing has been sent, such as one whose loss threw inside `no_sync`. Not collective. Throws
  /// UsageError when a bucket is on its way: peers wait for the rest, so only `finish` or `abandon` can end that window.
  virtual void discard() = 0;

  /// Ends a window that this rank cannot finish: sends zeros for everything its peers wait for, in order, with the rider. The
  /// peers' `finish_unscaled` returns normally; `given_up` tells them. All gradients are undefined afterwards, on every rank.
  /// Collective. Takes no memory for tensors.
  virtual void abandon(std::span<double> rider) = 0;

  /// How many ranks abandoned the last window. Equal on all ranks.
  virtual int given_up() const noexcept = 0;

  virtual const ReduceCounters& counters() const noexcept = 0;

  /// The gradients that the last `finish` left behind, in the order of the parameters; undefined ones are left out.
  virtual std::vector<at::Tensor> gradients() const = 0;

  /// Over what it reduces.
  virtual Channels channels() const noexcept = 0;

 protected:
  /// What holds for the next backward: how many scopes of each kind live.
  struct Modes {
    int no_sync = 0;
    int measure = 0;
  };
  const Modes& modes() const noexcept { return modes_; }
  virtual void apply_scale(double scale) = 0;

 private:
  Modes modes_;
};

}  // namespace ddpkit
