#include "harness/companion.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/topology.hpp"

namespace bench {
namespace {

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

// One file for the companions of all ranks of this job: mpirun gives every job a name of its own.
std::string meeting_file() {
  std::string job = environment("PMIX_NAMESPACE", "alone") + "_" + std::to_string(getuid());
  for (char& c : job)
    if (c == '/' || c == '@') c = '_';
  return (std::filesystem::temp_directory_path() / ("ddpkit_benchmark_" + job)).string();
}

[[noreturn]] void become(std::vector<std::string> command, int in, int out, pid_t owner) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != owner) _exit(1);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Companion::Companion(std::vector<std::string> command, std::chrono::seconds limit)
    : limit_(limit), meeting_file_(meeting_file()) {
  const ddpkit::LaunchEnvironment here = ddpkit::read_launch_environment();
  command.insert(command.end(), {std::to_string(here.rank), std::to_string(here.world_size), meeting_file_});
  std::array<int, 2> down{}, up{};
  if (pipe2(down.data(), O_CLOEXEC) != 0 || pipe2(up.data(), O_CLOEXEC) != 0)
    throw ddpkit::StorageError("no pipe to a companion could be made");
  const pid_t owner = getpid();
  pid_ = fork();
  if (pid_ < 0) throw ddpkit::StorageError(ddpkit::text("\"", command[0], "\" could not be started"));
  if (pid_ == 0) become(std::move(command), down[0], up[1], owner);
  close(down[0]);
  close(up[1]);
  to_ = down[1];
  from_ = up[0];
}

Companion::~Companion() {
  close(to_);
  close(from_);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove(meeting_file_, ignored);
}

std::string Companion::read_line() {
  std::string line;
  char c = 0;
  pollfd waiting{from_, POLLIN, 0};
  const auto limit = static_cast<int>(std::chrono::milliseconds(limit_).count());
  while (poll(&waiting, 1, limit) > 0 && read(from_, &c, 1) == 1) {
    if (c == '\n') return line;
    line += c;
  }
  return {};
}

bool Companion::ready() {
  return read_line() == "ready";
}

double Companion::block(const std::string& name, int iterations) {
  const std::string order = ddpkit::text(name, " ", iterations, "\n");
  const bool sent = write(to_, order.data(), order.size()) == static_cast<ssize_t>(order.size());
  const std::string answer = sent ? read_line() : std::string();
  if (answer.empty())
    throw ddpkit::CommError(ddpkit::text("the companion ended in \"", name, "\", or took longer than ", limit_.count(), " s"));
  return std::stod(answer);
}

}  // namespace bench
