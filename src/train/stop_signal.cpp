#include "ddpkit/train/stop_signal.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace ddpkit {
namespace {

constexpr std::int64_t kEchoNanoseconds = 1'000'000'000;  // a scheduler and mpirun may both pass on the same request

// A handler can reach nothing but statics, and these without a lock.
std::atomic<std::int64_t> first_request = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

extern "C" void note_stop(int signal) {
  std::int64_t none = 0;
  const std::int64_t time = now();
  if (first_request.compare_exchange_strong(none, time) || time - none < kEchoNanoseconds) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Returns what was there before.
struct sigaction handle(int signal) {
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = note_stop;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, &before);
  return before;
}

}  // namespace

StopSignal::StopSignal() {
  first_request = 0;
  term_before_ = handle(SIGTERM);
  usr1_before_ = handle(SIGUSR1);
}

StopSignal::~StopSignal() {
  sigaction(SIGTERM, &term_before_, nullptr);
  sigaction(SIGUSR1, &usr1_before_, nullptr);
}

bool StopSignal::requested() const noexcept {
  return first_request != 0;
}

}  // namespace ddpkit
