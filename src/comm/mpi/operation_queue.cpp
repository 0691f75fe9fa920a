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
  std::unique_lock lock(mutex_, std::defer_lock);
  for (;;) {
    do_chores_until_news();
    spin_until([this] { return news_ || attended_; });
    lock.lock();
    arrived_.wait(lock, [this] { return has_news() || attended_; });
    if (has_news()) break;
    lock.unlock();
  }
  if (urgent_) std::exchange(urgent_, nullptr)();
  if (waiting_.empty()) return nullptr;
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  news_ = !waiting_.empty() || closed_;
  last_start_ = Clock::now().time_since_epoch().count();
  return current_;
}

bool OperationQueue::has_news() const {
  return urgent_ || !waiting_.empty() || closed_;
}

// Looks often at first, then seldom: the core belongs to the thread that computes.
void OperationQueue::do_chores_until_news() noexcept {
  while (attended_ && !news_) {
    if (spin_until([this] { return news_ || !chores_left(); })) {
      attended_.exchange(false);
      if (chores_left()) attended_ = true;  // begun in between, by someone who saw that it was attended
    } else {
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }
}

// A chore that throws has told the queue of the failure.
bool OperationQueue::chores_left() noexcept {
  try {
    return do_chores();
  } catch (const std::exception&) {
    return false;
  }
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

// Another thread that does them at this moment is as good.
bool OperationQueue::do_chores(const void* busy) {
  const std::unique_lock lock(chores_mutex_, std::try_to_lock);
  bool unfinished = !lock;
  if (!lock) return unfinished;
  std::erase_if(chores_, [&](const Chore& chore) {
    const ChoreState state = chore(busy);
    unfinished |= state == ChoreState::unfinished;
    return state == ChoreState::gone;
  });
  return unfinished;
}

void OperationQueue::attend() {
  if (attended_.exchange(true)) return;
  { const std::lock_guard lock(mutex_); }  // not between the thread's last look and its sleep
  arrived_.notify_one();
}

void OperationQueue::fail(const CommError& error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = error;
  failed_ = true;
}

void OperationQueue::throw_if_failed() const {
  if (!failed_) return;
  const std::lock_guard lock(mutex_);
  throw *failure_;
}

bool OperationQueue::failed() const {
  return failed_;
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
