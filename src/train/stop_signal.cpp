#include "ddpkit/train/stop_signal.hpp"

#include <csignal>

namespace ddpkit {
namespace {

// A handler can reach nothing but a static.
volatile std::sig_atomic_t stop_requests = 0;

extern "C" void note_stop(int signal) {
  stop_requests = stop_requests + 1;
  if (stop_requests == 1) return;
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
  stop_requests = 0;
  term_before_ = handle(SIGTERM);
  usr1_before_ = handle(SIGUSR1);
}

StopSignal::~StopSignal() {
  sigaction(SIGTERM, &term_before_, nullptr);
  sigaction(SIGUSR1, &usr1_before_, nullptr);
}

bool StopSignal::requested() const noexcept {
  return stop_requests > 0;
}

}  // namespace ddpkit
