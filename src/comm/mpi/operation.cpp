#include "comm/mpi/operation.hpp"

#include <algorithm>
#include <thread>

#include "comm/mpi/operation_queue.hpp"
#include "comm/mpi/spin.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {

using Clock = std::chrono::steady_clock;

namespace {
constexpr std::chrono::milliseconds kChoreInterval{1};
}

Operation::Operation(std::shared_ptr<OperationQueue> queue, std::shared_ptr<Channel> channel, Plan plan)
    : queue_(std::move(queue)), channel_(std::move(channel)), plan_(std::move(plan)) {
  ++channel_->under_way;
}

void Operation::run() {
  if (plan_.sequence == 0) return plan_.body();
  ProgressTable& table = channel_->table;
  table.enter(plan_.sequence, plan_.signature);
  const std::string others = table.describe_mismatch(plan_.sequence, plan_.signature);
  if (!others.empty()) throw CommError(text(describe_self(), ", but ", others), ExitStatus::disagree);
  if (plan_.on_node) plan_.on_node();
  try {
    if (plan_.body) plan_.body();
  } catch (const CommError& error) {
    throw CommError(text(describe_self(), ": ", error.what()), error.status());
  }
  if (plan_.signature.kind != Collective::close) table.leave(plan_.sequence);  // who still calls something learns of the end
}

void Operation::finish(std::exception_ptr error) noexcept {
  plan_.on_node = nullptr;
  plan_.body = nullptr;  // lets go of the memory before anyone hears that it is free
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    done_.store(true, std::memory_order_release);
  }
  --channel_->under_way;
  finished_.notify_all();
}

bool Operation::done() {
  return finished() || queue_->failed();
}

void Operation::wait() {
  if (!spin_until([this] { return finished(); })) block();
  if (error_) std::rethrow_exception(error_);
}

void Operation::block() {
  queue_->throw_if_failed();
  const auto since = Clock::now();
  // A long queue is no failure: only the operation that the thread is in counts against the limit.
  const auto deadline = [&] { return std::max(since, queue_->last_start()) + channel_->options.timeout; };
  for (;;) {
    queue_->do_chores();  // others may wait for this rank's part in what was begun and not waited for
    std::unique_lock lock(mutex_);
    if (finished_.wait_for(lock, kChoreInterval, [this] { return finished(); })) return;
    if (Clock::now() < deadline()) continue;
    lock.unlock();
    expire();
  }
}

// The thread can be stuck in an earlier operation, perhaps of another communicator: that one is to blame.
void Operation::expire() {
  const auto current = queue_->current();
  const Operation& culprit = current ? *current : *this;
  std::string message = culprit.describe_self();
  message += text(" timed out after ", std::chrono::duration<double>(channel_->options.timeout).count(),
                  " s: ", culprit.channel_->table.describe_absent(culprit.plan_.sequence));
  const auto others = culprit.channel_->table.describe_mismatch(culprit.plan_.sequence, culprit.plan_.signature);
  if (!others.empty()) message += text("; ", others);
  if (&culprit != this) message += text("; behind it waits ", describe_self());
  const CommError error(message, ExitStatus::timeout);
  queue_->fail(error);
  throw error;
}

std::string Operation::describe_self() const {
  const Topology& topology = channel_->topology;
  return text("rank ", topology.rank, " of ", topology.world_size, ": ", describe(plan_.signature), ", #", plan_.sequence, ", ",
              plan_.signature.bytes(), " bytes", plan_.tag.empty() ? "" : " (", plan_.tag, plan_.tag.empty() ? "" : ")");
}

}  // namespace ddpkit::mpi
