#include "ddpkit/testing/faulty.hpp"

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "ddpkit/base/text.hpp"

namespace ddpkit::testing {
namespace {

class FailedWork final : public Work::State {
 public:
  explicit FailedWork(CommError error) : error_(std::move(error)) {}
  void wait() override { throw error_; }
  void synchronize() override { throw error_; }
  bool done() override { return true; }

 private:
  CommError error_;
};

}  // namespace

// An operation that is held back. The hold's lock guards its start.
class FaultyCommunicator::Held final : public Work::State {
 public:
  Held(std::shared_ptr<Hold> hold, std::function<Work()> start) : hold_(std::move(hold)), start_(std::move(start)) {}

  void start() { work_ = std::exchange(start_, nullptr)(); }

  void wait() override;
  void synchronize() override;
  bool done() override;

 private:
  std::shared_ptr<Hold> hold_;
  std::function<Work()> start_;
  Work work_;
};

// What is held back, in order.
class FaultyCommunicator::Hold {
 public:
  explicit Hold(const Fault& fault) : fault_(fault) {}

  void add(std::shared_ptr<Held> held) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(held));
    if (due()) release();
  }

  // Blocks until the latch opens, when there is one.
  void require_open() {
    if (fault_.until != nullptr) fault_.until->wait();
    const std::lock_guard lock(mutex_);
    release();
  }

  bool try_open() {
    const std::lock_guard lock(mutex_);
    if (due()) release();
    return open_;
  }

 private:
  bool due() const {
    if (fault_.until != nullptr) return open_ || fault_.until->try_wait();
    return open_ || held_.size() > fault_.later_operations;
  }

  void release() {
    open_ = true;
    while (!held_.empty()) {
      const auto next = std::move(held_.front());
      held_.pop_front();
      next->start();
    }
  }

  Fault fault_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<Held>> held_;
  bool open_ = false;
};

void FaultyCommunicator::Held::wait() {
  hold_->require_open();
  work_.wait();
}

void FaultyCommunicator::Held::synchronize() {
  hold_->require_open();
  work_.synchronize();
}

bool FaultyCommunicator::Held::done() {
  return hold_->try_open() && work_.done();
}

FaultyCommunicator::FaultyCommunicator(Communicator& inner, const Fault& fault)
    : Communicator(inner.topology()), inner_(inner), fault_(fault) {}

FaultyCommunicator::~FaultyCommunicator() = default;

template <class Start>
Work FaultyCommunicator::pass(std::string_view operation, std::string_view tag, Start start) {
  const std::size_t number = issued_++;
  if (number == fault_.operation && fault_.kind != Fault::Kind::delay) return spoil(operation, tag);
  if (number == fault_.operation) hold_ = std::make_shared<Hold>(fault_);
  if (!hold_ || hold_->try_open()) return start();
  const auto held = std::make_shared<Held>(hold_, std::move(start));
  hold_->add(held);
  return Work(held);
}

Work FaultyCommunicator::spoil(std::string_view operation, std::string_view tag) const {
  const bool dropped = fault_.kind == Fault::Kind::drop;
  const CommError error(text("rank ", rank(), ": ", operation, tag.empty() ? "" : " (", tag, tag.empty() ? "" : ")",
                             dropped ? " was dropped by a test and timed out" : " was made to fail by a test"),
                        dropped ? ExitStatus::timeout : ExitStatus::peer_lost);
  return Work(std::make_shared<FailedWork>(error));
}

Work FaultyCommunicator::do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) {
  return pass("all_reduce", tag, [this, data, op, name = std::string(tag)] { return inner_.all_reduce(data, op, name); });
}

Work FaultyCommunicator::do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) {
  return pass("reduce_scatter", tag,
              [this, in, out, op, name = std::string(tag)] { return inner_.reduce_scatter(in, out, op, name); });
}

Work FaultyCommunicator::do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) {
  return pass("all_gather", tag, [this, in, out, name = std::string(tag)] { return inner_.all_gather(in, out, name); });
}

Work FaultyCommunicator::do_broadcast(Buffer data, int root, std::string_view tag) {
  return pass("broadcast", tag, [this, data, root, name = std::string(tag)] { return inner_.broadcast(data, root, name); });
}

Memory FaultyCommunicator::do_allocate(std::size_t bytes) {
  if (hold_) hold_->require_open();
  return inner_.allocate(bytes);
}

void FaultyCommunicator::do_barrier() {
  if (hold_) hold_->require_open();
  inner_.barrier();
}

std::unique_ptr<Communicator> FaultyCommunicator::do_split(int color, int key) {
  if (hold_) hold_->require_open();
  return inner_.split(color, key);
}

void FaultyCommunicator::do_abort(const Error& reason) noexcept {
  inner_.abort(reason);
}

}  // namespace ddpkit::testing
