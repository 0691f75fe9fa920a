#include "comm/nccl/session.hpp"

#include "comm/nccl/api_error.hpp"
#include "comm/nccl/patience.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {
namespace {

ncclConfig_t non_blocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

}  // namespace

Session::Session(const Options& options) : options_(options), stream_(make_urgent_stream()), ready_(make_event()) {}

std::shared_ptr<Session> Session::connect(const Options& options, int world_size, const ncclUniqueId& id) {
  const std::shared_ptr<Session> session(new Session(options));
  const Operation operation{.name = "connect"};
  ncclConfig_t config = non_blocking();
  Lock lock(session->mutex_);
  const ncclResult_t result = ncclCommInitRankConfig(&session->comm_, world_size, id, options.rank, &config);
  session->settle(operation, "ncclCommInitRankConfig", result, lock);
  return session;
}

std::shared_ptr<Session> Session::split(const Operation& operation, int color, int key, int rank) {
  std::shared_ptr<Session> child;
  if (color >= 0) child.reset(new Session({.rank = rank, .device = options_.device, .timeout = options_.timeout}));
  ncclComm_t made = nullptr;
  ncclConfig_t config = non_blocking();
  try {
    invoke(operation, "ncclCommSplit",
           [&](ncclComm_t comm) { return ncclCommSplit(comm, color < 0 ? NCCL_SPLIT_NOCOLOR : color, key, &made, &config); });
  } catch (const Error&) {
    if (made != nullptr) ncclCommAbort(made);
    throw;
  }
  if (child) {
    Lock lock(child->mutex_);
    child->comm_ = made;
    child->settle(operation, "ncclCommSplit", ncclInProgress, lock);
  }
  return child;
}

Session::~Session() {
  close();
}

void Session::close() noexcept {
  drain();
  Lock lock(mutex_);
  if (state_ != State::alive) return;
  state_ = State::closed;
  failure_ = "it was destroyed";
  if (comm_ == nullptr) return;
  if (finalize(lock))
    ncclCommDestroy(comm_);
  else
    ncclCommAbort(comm_);
  comm_ = nullptr;
}

// Destroying without it would block, without limit, on the other ranks of this node.
bool Session::finalize(Lock& lock) noexcept {
  ncclResult_t result = ncclCommFinalize(comm_);
  Patience patience(options_.timeout);
  while (result == ncclInProgress) {
    lock.unlock();
    const bool time_left = patience.pause();
    lock.lock();
    if (!time_left || ncclCommGetAsyncError(comm_, &result) != ncclSuccess) return false;
  }
  return result == ncclSuccess;
}

void Session::enqueue(const Operation& operation, std::string_view name, const Call& call, cudaStream_t caller,
                      cudaEvent_t done) {
  const DeviceGuard guard(options_.device);  // the default stream is the current device's
  Lock lock(mutex_);
  require_healthy(operation, lock);
  check_cuda(operation, cudaEventRecord(ready_.get(), caller), "cudaEventRecord", lock);
  check_cuda(operation, cudaStreamWaitEvent(stream_.get(), ready_.get(), 0), "cudaStreamWaitEvent", lock);
  settle(operation, name, call(comm_), lock);
  check_cuda(operation, cudaEventRecord(done, stream_.get()), "cudaEventRecord", lock);
}

void Session::order_after(const Operation& operation, cudaEvent_t done, cudaStream_t caller) {
  const DeviceGuard guard(options_.device);
  Lock lock(mutex_);
  if (state_ == State::closed) return;
  require_healthy(operation, lock);
  check_cuda(operation, cudaStreamWaitEvent(caller, done, 0), "cudaStreamWaitEvent", lock);
}

bool Session::passed(const Operation& operation, cudaEvent_t done) {
  Lock lock(mutex_);
  if (state_ == State::closed) return true;
  require_alive(operation, lock);
  const cudaError_t state = cudaEventQuery(done);  // under the lock: an abort, too, lets events pass
  if (state == cudaSuccess) return true;
  if (state != cudaErrorNotReady) check_cuda(operation, state, "cudaEventQuery", lock);
  require_healthy(operation, lock);
  return false;
}

void Session::await(const Operation& operation, cudaEvent_t done) {
  Patience patience(options_.timeout);
  while (!passed(operation, done)) {
    if (patience.pause()) continue;
    Lock lock(mutex_);
    give_up(operation, text("timed out after ", options_.timeout.count(), " ms; a rank did not come, or its link is down"),
            ExitStatus::timeout, lock);
  }
}

void Session::invoke(const Operation& operation, std::string_view name, const Call& call) {
  Lock lock(mutex_);
  require_healthy(operation, lock);
  settle(operation, name, call(comm_), lock);
}

void Session::invoke_quietly(const Call& call) noexcept {
  const Lock lock(mutex_);
  if (comm_ != nullptr) call(comm_);
}

void Session::check(const Operation& operation) {
  const Lock lock(mutex_);
  require_healthy(operation, lock);
}

void Session::drain() noexcept {
  for (Patience patience(options_.timeout);;) {
    const bool time_left = patience.pause();
    const Lock lock(mutex_);
    if (comm_ == nullptr || cudaStreamQuery(stream_.get()) != cudaErrorNotReady) return;
    ncclResult_t state = ncclSuccess;
    ncclCommGetAsyncError(comm_, &state);
    const bool broken = state != ncclSuccess && state != ncclInProgress;
    if (broken || !time_left) abort_once("work was still under way when it was let go", ExitStatus::timeout, lock);
  }
}

void Session::fail(const std::string& reason, ExitStatus status) noexcept {
  const Lock lock(mutex_);
  abort_once(reason, status, lock);
}

void Session::require_alive(const Operation& operation, const Lock&) const {
  if (state_ == State::alive) return;
  throw CommError(
      text(describe(options_.rank, operation), ": the communicator is gone: ", failure_, "; only abort is legal now"),
      failure_status_);
}

void Session::require_healthy(const Operation& operation, const Lock& lock) {
  require_alive(operation, lock);
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(comm_, &state);
  if (asked != ncclSuccess) give_up(operation, describe(asked, "ncclCommGetAsyncError", comm_), status_of(asked), lock);
  if (state != ncclSuccess && state != ncclInProgress)
    give_up(operation, describe(state, "an operation under way", comm_), status_of(state), lock);
}

// NCCL has put nothing on the stream before it leaves ncclInProgress: an event recorded earlier would pass too early.
void Session::settle(const Operation& operation, std::string_view name, ncclResult_t result, Lock& lock) {
  Patience patience(options_.timeout);
  while (result == ncclInProgress) {
    lock.unlock();
    const bool time_left = patience.pause();
    lock.lock();
    require_alive(operation, lock);
    if (!time_left)
      give_up(operation, text(name, " was still in progress after ", options_.timeout.count(), " ms; did every rank come?"),
              ExitStatus::timeout, lock);
    const ncclResult_t asked = ncclCommGetAsyncError(comm_, &result);
    if (asked != ncclSuccess) give_up(operation, describe(asked, "ncclCommGetAsyncError", comm_), status_of(asked), lock);
  }
  if (result != ncclSuccess) give_up(operation, describe(result, name, comm_), status_of(result), lock);
}

void Session::check_cuda(const Operation& operation, cudaError_t error, std::string_view call, const Lock& lock) {
  if (error != cudaSuccess) give_up(operation, describe(error, call), ExitStatus::internal, lock);
}

void Session::give_up(const Operation& operation, const std::string& reason, ExitStatus status, const Lock& lock) {
  const std::string message = text(describe(options_.rank, operation), ": ", reason);
  abort_once(message, status, lock);
  throw CommError(message, status);
}

void Session::abort_once(const std::string& reason, ExitStatus status, const Lock&) noexcept {
  if (state_ != State::alive) return;
  state_ = State::failed;
  failure_ = reason;
  failure_status_ = status;
  if (comm_ != nullptr) ncclCommAbort(comm_);
  comm_ = nullptr;  // freed by the abort, whatever it answered
}

}  // namespace ddpkit::nccl
