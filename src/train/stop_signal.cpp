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

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  stop_requests = 0;
  handle(SIGTERM, note_stop);
  handle(SIGUSR1, note_stop);
}

StopSignal::~StopSignal() {
  handle(SIGTERM, SIG_DFL);
  handle(SIGUSR1, SIG_DFL);
}

bool StopSignal::requested() const noexcept {
  return stop_requests > 0;
}

}  // namespace ddpkit
