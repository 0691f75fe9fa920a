#include "ddpkit/train/stop_signal.hpp"

#include <csignal>

#include "support/catch.hpp"

namespace ddpkit {

namespace {

volatile std::sig_atomic_t program_heard = 0;
extern "C" void hear(int) {
  program_heard = program_heard + 1;
}

}  // namespace

TEST_CASE("a signal is a wish while the object lives, and the program's own afterwards") {
  std::signal(SIGUSR1, hear);
  {
    const StopSignal signal;
    CHECK_FALSE(signal.requested());
    std::raise(SIGUSR1);
    CHECK(signal.requested());
  }
  CHECK(program_heard == 0);
  std::raise(SIGUSR1);
  CHECK(program_heard == 1);
  {
    const StopSignal next;
    CHECK_FALSE(next.requested());
    std::raise(SIGTERM);
    CHECK(next.requested());
  }
  std::signal(SIGUSR1, SIG_DFL);
}

}  // namespace ddpkit
