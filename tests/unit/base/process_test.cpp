#include "ddpkit/base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <csignal>
#include <filesystem>

#include "base/file_descriptor.hpp"
#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace ddpkit {
namespace {

using Catch::Matchers::Contains;
using std::chrono::milliseconds;
using testing::TemporaryFolder;
using End = ProcessResult::End;

constexpr milliseconds kLimit = std::chrono::seconds(60);  // for programs that end at once, on a machine however busy
constexpr milliseconds kShort{100};

ProcessCommand shell(const std::string& script) {
  return {.arguments = {"/bin/sh", "-c", script}, .time_limit = kLimit};
}

std::string error_of(ProcessCommand command) {
  try {
    run_process(std::move(command));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// A named pipe that tells when the last process that holds it open has ended.
class Witness {
 public:
  explicit Witness(const TemporaryFolder& folder) : path_((folder / "witness").string()) {
    REQUIRE(mkfifo(path_.c_str(), 0600) == 0);
    pipe_ = FileDescriptor(open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }

  const std::string& path() const { return path_; }

  void await_first() const {
    char block[64];
    pollfd begun{pipe_.get(), POLLIN, 0};
    REQUIRE(poll(&begun, 1, static_cast<int>(kLimit.count())) == 1);
    REQUIRE(read(pipe_.get(), block, sizeof block) > 0);
  }

  bool all_are_gone() const {
    char block[64];
    FileDescriptor(open(path_.c_str(), O_WRONLY | O_NONBLOCK));  // an end is told only to who has seen a beginning
    pollfd end{pipe_.get(), POLLIN, 0};
    while (poll(&end, 1, static_cast<int>(kLimit.count())) == 1)
      if (read(pipe_.get(), block, sizeof block) == 0) return true;
    return false;
  }

 private:
  std::string path_;
  FileDescriptor pipe_;
};

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST_CASE("a program's outputs and status come back") {
  const ProcessResult result = run_process(shell("echo out; echo err >&2; exit 7"));
  CHECK(result.end == End::exited);
  CHECK(result.status == 7);
  CHECK(result.output == "out\n");
  CHECK(result.error_tail == "err\n");
  CHECK(result.time.count() > 0);
}

TEST_CASE("arguments reach the program as they are") {
  const ProcessResult result =
      run_process({.arguments = {"printf", "%s|", "$HOME", "a b", "", "*", "'q'"}, .time_limit = kLimit});
  CHECK(result.output == "$HOME|a b||*|'q'|");
}

TEST_CASE("the environment is added to, the folder changed, and there is nothing to read") {
  const TemporaryFolder folder;
  ProcessCommand command = shell("echo $DDPKIT_A $HOME; pwd; cat");
  command.environment = {{"DDPKIT_A", "one"}, {"HOME", "elsewhere"}};
  command.folder = folder.path().string();
  CHECK(run_process(command).output == "one elsewhere\n" + std::filesystem::canonical(folder.path()).string() + "\n");
}

TEST_CASE("outputs larger than any pipe do not block, and are kept as far as asked") {
  ProcessCommand command = shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo end >&2");
  command.output_bytes = 2'000'000;
  command.error_bytes = 1000;
  const ProcessResult result = run_process(command);
  CHECK(result.output.size() == 2'000'000);
  CHECK(result.output_dropped == 1'000'000);
  CHECK(result.error_tail.size() == 1000);
  CHECK(result.error_tail.ends_with("end\n"));
}

TEST_CASE("what cannot be run is an error that says why") {
  const TemporaryFolder folder;
  testing::write_file(folder / "plain", "no program");
  testing::write_file(folder / "garbage", "\x01\x02");
  std::filesystem::permissions(folder / "garbage", std::filesystem::perms::owner_all);
  CHECK_THAT(error_of({.arguments = {"no-such-program-here"}}), Contains("no program 'no-such-program-here' in PATH"));
  CHECK_THAT(error_of({.arguments = {"./no/such"}}), Contains("no program ./no/such"));
  CHECK_THAT(error_of({.arguments = {(folder / "plain").string()}}), Contains("chmod +x"));
  CHECK_THAT(error_of({.arguments = {(folder / "garbage").string()}}), Contains("no program for this machine"));
  CHECK_THAT(error_of({.arguments = {"true"}, .folder = "/no/such/folder"}), Contains("/no/such/folder"));
  CHECK_THAT(error_of({.arguments = {}}), Contains("no program"));
}

TEST_CASE("a signal from elsewhere is told apart") {
  const ProcessResult result = run_process(shell("kill -SEGV $$"));
  CHECK(result.end == End::signalled);
  CHECK(result.signal == SIGSEGV);
}

TEST_CASE("when its time is over a program is asked to end, with all that it started") {
  const TemporaryFolder folder;
  const Witness witness(folder);
  ProcessCommand command = shell("sleep 1000 > " + witness.path() + " & echo begun; wait");
  command.time_limit = kShort;
  const ProcessResult result = run_process(command);
  CHECK(result.end == End::timed_out);
  CHECK(result.signal == SIGTERM);
  CHECK(witness.all_are_gone());
}

TEST_CASE("a program that does not listen is killed after the grace, and what it says meanwhile is kept") {
  ProcessCommand command = shell("trap 'echo asked' TERM; echo begun; while :; do sleep 0.01; done");
  command.time_limit = std::chrono::seconds(2);
  command.grace = kShort * 5;
  const ProcessResult result = run_process(command);
  CHECK(result.end == End::timed_out);
  CHECK(result.signal == SIGKILL);
  CHECK(result.output == "begun\nasked\n");
}

TEST_CASE("what a program leaves behind neither delays its end nor outlives it") {
  const TemporaryFolder folder;
  const Witness witness(folder);
  const ProcessResult result = run_process(shell("(exec 9> " + witness.path() + "; sleep 1000) & echo done"));
  CHECK(result.end == End::exited);
  CHECK(result.output == "done\n");
  CHECK(witness.all_are_gone());
}

TEST_CASE("a process that nobody waits for ends with its owner") {
  const TemporaryFolder folder;
  const Witness witness(folder);
  {
    const Process process(shell("exec 9> " + witness.path() + "; echo begun >&9; sleep 1000 & wait"));
    witness.await_first();
  }
  CHECK(witness.all_are_gone());
}

TEST_CASE("descriptors stay here, and none is lost") {
  const FileDescriptor inheritable(open("/dev/null", O_RDONLY));
  const std::ptrdiff_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) run_process(shell("true"));
  error_of({.arguments = {"./no/such"}});
  CHECK(open_descriptors() == before);
  CHECK(run_process(shell("ls /proc/$$/fd")).output == "0\n1\n2\n");
}

TEST_CASE("signals to the caller disturb nothing") {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction former {};
  sigaction(SIGALRM, &action, &former);
  const itimerval often{{0, 500}, {0, 500}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  const ProcessResult result = run_process(shell("i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done; exit 3"));
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &former, nullptr);
  CHECK(result.status == 3);
  CHECK(result.output.ends_with("1998\n1999\n"));
}

TEST_CASE("a command line reads back as the same arguments") {
  const std::vector<std::string> arguments{"printf", "%s|", "plain-1.5/x=y", "", "a b", "it's", "$HOME;*"};
  CHECK(command_line({"mpirun", "-np", "2", "./a b"}) == "mpirun -np 2 './a b'");
  CHECK(run_process(shell(command_line(arguments))).output == "plain-1.5/x=y||a b|it's|$HOME;*|");
}

}  // namespace
}  // namespace ddpkit
