#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "comm/mpi/operation.hpp"
#include "ddpkit/base/error.hpp"

namespace ddpkit::mpi {

/// Operations of all communicators of the process in the order in which they were issued. Thread-safe. After the first failure
/// none is run any more, peers would be one operation off: those that wait fail with the same error.
class OperationQueue {
 public:
  /// Throws CommError after a failure.
  void push(std::shared_ptr<Operation> operation);

  /// Runs before everything else, also after a failure: for MPI_Abort.
  void push_urgent(std::function<void()> action);

  /// No more is coming: `run` returns once the queue is empty.
  void close();

  /// Takes and runs operations until closed. The body of the communication thread.
  void run() noexcept;

  /// What a thread does while it waits for anything. It is told what that thread is busy with already, and says whether there
  /// is more to do, or that it need not be asked again.
  enum class ChoreState { idle, unfinished, gone };
  using Chore = std::function<ChoreState(const void* busy)>;
  void add_chore(Chore chore);
  /// Whether any is unfinished.
  bool do_chores(const void* busy = nullptr);

  /// From here on the communication thread does the chores, whenever it has nothing else to do, until none is unfinished.
  void attend();

  void fail(const CommError& error);
  void throw_if_failed() const;
  bool failed() const;

  /// Whether nothing is running or waiting.
  bool idle() const;

  /// What the thread is in, if anything, and when it began.
  std::shared_ptr<Operation> current() const;
  std::chrono::steady_clock::time_point last_start() const noexcept;

 private:
  std::shared_ptr<Operation> take();
  bool has_news() const;
  void do_chores_until_news() noexcept;
  bool chores_left() noexcept;
  void serve(Operation& operation);
  void retire();

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Operation>> waiting_;
  std::shared_ptr<Operation> current_;
  std::function<void()> urgent_;
  std::optional<CommError> failure_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> news_ = false;      // something waits or the queue is closed; lets the thread look without the lock
  std::atomic<bool> attended_ = false;  // somebody wants the chores done
  bool closed_ = false;
  std::atomic<std::chrono::steady_clock::rep> last_start_ = 0;
  std::mutex chores_mutex_;
  std::vector<Chore> chores_;
};

}  // namespace ddpkit::mpi
