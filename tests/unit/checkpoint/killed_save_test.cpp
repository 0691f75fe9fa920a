#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "ddpkit/base/random.hpp"
#include "ddpkit/checkpoint/checkpoint_store.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;

namespace {

/// Saves step after step until it is killed; tells the number of each finished one through the pipe.
[[noreturn]] void save_forever(const std::filesystem::path& folder, std::int64_t first_step, int pipe) {
  const std::vector<std::byte> weights(200'000, std::byte{42});
  CheckpointStore store(folder, {.keep = 1});
  for (std::int64_t step = first_step;; ++step) {
    const std::int64_t count = static_cast<std::int64_t>(weights.size());
    const NamedBytes tensor{.name = "w", .dtype = DType::uint8, .shape = {count}, .bytes = weights};
    try {
      store.save({.step = step, .files = {{.name = "model.safetensors", .tensors = {tensor}}}});
    } catch (...) {
      ::_exit(1);
    }
    if (::write(pipe, &step, sizeof step) != sizeof step) ::_exit(2);
  }
}

/// Steps that were announced before the process was killed, `delay` after its first one.
std::int64_t kill_while_saving(const std::filesystem::path& folder, std::int64_t first_step, std::chrono::microseconds delay) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(30);
    save_forever(folder, first_step, ends[1]);
  }
  ::close(ends[1]);
  std::int64_t step = -1, announced = -1;
  REQUIRE(::read(ends[0], &step, sizeof step) == sizeof step);
  const auto end = std::chrono::steady_clock::now() + delay;
  while (std::chrono::steady_clock::now() < end) {
  }
  ::kill(child, SIGKILL);
  do announced = step;
  while (::read(ends[0], &step, sizeof step) == sizeof step);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  return announced;
}

}  // namespace

TEST_CASE("whenever a save is killed, the newest checkpoint is whole and no finished one is lost") {
  const ddpkit::testing::TemporaryFolder folder;
  const CheckpointStore store(folder.path(), {});
  CounterRandom random(20);
  std::int64_t step = 1;
  for (int round = 0; round < 20; ++round) {
    step = kill_while_saving(folder.path(), step, std::chrono::microseconds(random.below(20'000)));
    const LatestCheckpoint latest = store.latest_valid();
    REQUIRE(latest.checkpoint);
    CHECK(latest.problems.empty());
    CHECK(latest.checkpoint->manifest().step >= step);
    step = latest.checkpoint->manifest().step;  // the next process saves this step again
  }
}
