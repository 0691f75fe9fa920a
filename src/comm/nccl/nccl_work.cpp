#include "comm/nccl/nccl_work.hpp"

#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {

NcclWork::NcclWork(std::shared_ptr<Session> session) : session_(std::move(session)), done_(make_event()) {}

void NcclWork::start(Operation operation, std::string_view name, const Session::Call& call, cudaStream_t caller, Held held) {
  operation_ = std::move(operation);
  caller_ = caller;
  held_ = std::move(held);
  finished_ = false;
  issued_ = std::chrono::steady_clock::now();
  session_->enqueue(operation_, name, call, caller_, done_.get());
}

void NcclWork::wait() {
  session_->order_after(operation_, done_.get(), caller_);
  Held released;
  const std::lock_guard lock(mutex_);
  released.owners.swap(held_.owners);
}

void NcclWork::synchronize() {
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
  }
  session_->await(operation_, done_.get());
  let_go();
}

bool NcclWork::done() {
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return true;
  }
  try {
    if (!session_->passed(operation_, done_.get())) return false;
    let_go();
  } catch (const Error&) {  // synchronize would throw it at once; the abort has ended what used the memory
    release();
  }
  return true;
}

void NcclWork::expire(std::chrono::steady_clock::time_point now) {
  if (now - issued_ < session_->options().timeout || done()) return;
  session_->fail(text(describe(session_->options().rank, operation_), ": timed out after ", session_->options().timeout.count(),
                      " ms; a rank did not come, or its link is down"),
                 ExitStatus::timeout);
}

void NcclWork::let_go() {
  release();
  const std::lock_guard lock(mutex_);
  finished_ = true;
}

void NcclWork::release() {
  Held released;  // dies after the lock: an owner may be anything
  const std::lock_guard lock(mutex_);
  std::swap(released, held_);
}

}  // namespace ddpkit::nccl
