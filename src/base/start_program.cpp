#include "base/start_program.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

extern char** environ;

namespace ddpkit {
namespace {

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Error system_error(std::string_view what) {
  return Error(text("cannot ", what, ": ", std::strerror(errno)));
}

// Where a caller has closed its standard streams, new descriptors take their numbers, and the child could not sort them out.
FileDescriptor above_standard(int descriptor) {
  const FileDescriptor low(descriptor);
  FileDescriptor high(fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
  if (!high) throw system_error("duplicate a file descriptor");
  return high;
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("make a pipe");
  FileDescriptor write(ends[1]);
  Pipe pipe{above_standard(ends[0]), {}};
  pipe.write = above_standard(dup(write.get()));
  return pipe;
}

FileDescriptor open_null() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) throw system_error("open /dev/null");
  return above_standard(null);
}

std::string path_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (!rest.empty()) {
    const std::string folder(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    const std::string path = (folder.empty() ? "." : folder) + "/" + program;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  throw UsageError(text("there is no program '", program, "' in PATH; install it, or give its path"));
}

std::vector<std::string> environment_of(const ProcessCommand& command) {
  std::vector<std::string> all;
  for (const auto& [name, value] : command.environment) all.push_back(name + '=' + value);
  const auto is_replaced = [&](std::string_view entry) {
    for (const auto& [name, value] : command.environment)
      if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return true;
    return false;
  };
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!is_replaced(*entry)) all.emplace_back(*entry);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Failure {
  enum class Stage { folder, program } stage = Stage::program;
  int number = 0;
};

// All that the child needs, made before the fork: between fork and exec only async-signal-safe calls are allowed.
struct Image {
  std::string path;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
  const char* folder = nullptr;
  FileDescriptor null;
  Pipe output;
  Pipe error;
  Pipe report;
  pid_t parent = -1;
};

[[noreturn]] void fail_in_child(const Image& image, Failure::Stage stage) {
  const Failure failure{stage, errno};
  [[maybe_unused]] const auto written = write(image.report.write.get(), &failure, sizeof failure);
  _exit(127);
}

[[noreturn]] void become(const Image& image) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != image.parent) _exit(127);  // it died before the request
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  dup2(image.null.get(), STDIN_FILENO);
  dup2(image.output.write.get(), STDOUT_FILENO);
  dup2(image.error.write.get(), STDERR_FILENO);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (image.folder != nullptr && chdir(image.folder) != 0) fail_in_child(image, Failure::Stage::folder);
  execve(image.path.c_str(), image.argv.data(), image.envp.data());
  fail_in_child(image, Failure::Stage::program);
}

std::string reason(const ProcessCommand& command, const Failure& failure) {
  if (failure.stage == Failure::Stage::folder)
    return text("cannot run in the folder ", command.folder, ": ", std::strerror(failure.number));
  const std::string& program = command.arguments.front();
  switch (failure.number) {
    case ENOENT: return text("there is no program ", program, " (or no interpreter for it); check the path");
    case EACCES: return text("cannot run ", program, ": it is not an executable file; chmod +x makes it one");
    case ENOEXEC:
      return text("cannot run ", program, ": it is no program for this machine, and a script needs a first line '#!...'");
    default: return text("cannot run ", program, ": ", std::strerror(failure.number));
  }
}

// Blocks until the child has executed the program, which closes the pipe, or has said why it could not.
void await_start(const ProcessCommand& command, const Image& image, pid_t pid) {
  Failure failure;
  ssize_t got = 0;
  do {
    got = read(image.report.read.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return;
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  throw UsageError(reason(command, failure));
}

void make_non_blocking(int descriptor) {
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

Image image_of(const ProcessCommand& command) {
  if (command.arguments.empty() || command.arguments.front().empty()) throw UsageError("no program to run was given");
  Image image{.path = path_of(command.arguments.front()), .arguments = command.arguments};
  image.environment = environment_of(command);
  image.argv = pointers_to(image.arguments);
  image.envp = pointers_to(image.environment);
  image.folder = command.folder.empty() ? nullptr : command.folder.c_str();
  image.null = open_null();
  image.output = make_pipe();
  image.error = make_pipe();
  image.report = make_pipe();
  image.parent = getpid();
  return image;
}

}  // namespace

StartedProgram start_program(const ProcessCommand& command) {
  Image image = image_of(command);
  const pid_t pid = fork();
  if (pid < 0) throw system_error("start a process");
  if (pid == 0) become(image);
  image.output.write.reset();
  image.error.write.reset();
  image.report.write.reset();
  await_start(command, image, pid);
  make_non_blocking(image.output.read.get());
  make_non_blocking(image.error.read.get());
  return {pid, std::move(image.output.read), std::move(image.error.read)};
}

}  // namespace ddpkit
