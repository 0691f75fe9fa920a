#pragma once

#include <memory>

namespace ddpkit {

/// A collective on its way. Cheap to copy; dropping it neither cancels nor waits.
class Work {
 public:
  /// What a backend implements. All three may be called from any thread.
  class State {
   public:
    virtual ~State() = default;
    virtual void wait() = 0;
    virtual void synchronize() = 0;
    virtual bool done() = 0;
  };

  Work() = default;  ///< already done
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// After it, the caller's later work (on this thread, or on its current CUDA stream) may use the data. On CPU it blocks; on
  /// CUDA it only orders the stream. Rethrows the operation's error; throws CommError past the communicator's timeout.
  void wait() const {
    if (state_) state_->wait();
  }

  /// Blocks the host until the data is there. Errors as in `wait`.
  void synchronize() const {
    if (state_) state_->synchronize();
  }

  /// Whether `synchronize` would return (or throw) at once. Never blocks.
  bool done() const { return !state_ || state_->done(); }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace ddpkit
