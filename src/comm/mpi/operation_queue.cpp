#include "comm/mpi/operation_queue.hpp"

#include <utility>

#include "comm/mpi/spin.hpp"

namespace ddpkit::mpi {

using Clock = std::chrono::steady_clock;

void OperationQueue::push(std::shared_ptr<Operation> operation) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) throw *failure_;
    waiting_.push_back(std::move(operation));
    news_ = true;
  }
  arrived_.notify_one();
}

void OperationQueue::push_urgent(std::function<void()> action) {
  {
    const std::lock_guard lock(mutex_);
    urgent_ = std::move(action);
    news_ = true;
  }
  arrived_.notify_one();
}

void OperationQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    news_ = true;
  }
  arrived_.notify_one();
}

void OperationQueue::run() noexcept {
  while (const auto operation = take()) {
    serve(*operation);
  }
}

std::shared_ptr<Operation> OperationQueue::take() {
  spin_until([this] { return news_.load(std::memory_order_acquire); });
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return urgent_ || !waiting_.empty() || closed_; });
  if (urgent_) std::exchange(urgent_, nullptr)();
  if (waiting_.empty()) return nullptr;
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  news_ = !waiting_.empty() || closed_;
  last_start_ = Clock::now().time_since_epoch().count();
  return current_;
}

void OperationQueue::serve(Operation& operation) {
  std::exception_ptr error;
  try {
    throw_if_failed();
    operation.run();
  } catch (const CommError& failure) {
    error = std::current_exception();
    fail(failure);
  } catch (const std::exception& failure) {
    error = std::current_exception();
    fail(CommError(failure.what(), ExitStatus::internal));
  }
  retire();  // first: who waits may end the queue next
  operation.finish(error);
}

void OperationQueue::retire() {
  const std::lock_guard lock(mutex_);
  current_ = nullptr;
}

void OperationQueue::add_chore(Chore chore) {
  const std::lock_guard lock(chores_mutex_);
  chores_.push_back(std::move(chore));
}

void OperationQueue::do_chores(const void* busy) {
  const std::unique_lock lock(chores_mutex_, std::try_to_lock);
  if (lock) std::erase_if(chores_, [busy](const Chore& chore) { return !chore(busy); });
}

void OperationQueue::fail(const CommError& error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = error;
}

void OperationQueue::throw_if_failed() const {
  const std::lock_guard lock(mutex_);
  if (failure_) throw *failure_;
}

bool OperationQueue::failed() const {
  const std::lock_guard lock(mutex_);
  return failure_.has_value();
}

bool OperationQueue::idle() const {
  const std::lock_guard lock(mutex_);
  return !current_ && waiting_.empty();
}

std::shared_ptr<Operation> OperationQueue::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Clock::time_point OperationQueue::last_start() const noexcept {
  return Clock::time_point(Clock::duration(last_start_.load()));
}

}  // namespace ddpkit::mpi
