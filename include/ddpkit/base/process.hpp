#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ddpkit {

/// A program to run: without a shell, so that nothing in the arguments has a special meaning.
struct ProcessCommand {
  std::vector<std::string> arguments;  ///< the first is the program: a path (seen from `folder`), or a name looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to this process's, or in place of it
  std::string folder{};                                            ///< where it runs; empty: here
  std::chrono::milliseconds time_limit = std::chrono::milliseconds::max();
  std::chrono::milliseconds grace = std::chrono::seconds(5);  ///< between the request to end (TERM) and the end (KILL)
  std::size_t output_bytes = std::size_t{64} << 20;           ///< of standard output: the first that are kept
  std::size_t error_bytes = std::size_t{64} << 10;            ///< of standard error: the last that are kept
};

struct ProcessResult {
  enum class End {
    exited,     ///< by itself, with `status`
    signalled,  ///< by `signal`, which did not come from here
    timed_out,  ///< ended from here when its time was over
  };
  End end = End::exited;
  int status = 0;
  int signal = 0;
  std::string output{};
  std::string error_tail{};
  std::size_t output_dropped = 0;  ///< bytes of standard output beyond `output_bytes`
  std::chrono::duration<double> time{};
};

/// A running program with its standard input at /dev/null and both outputs caught. It leads a process group of its own, which
/// is ended as a whole: when the program ends, when its time is over, and when this object is destroyed. Should the thread that
/// started it die before, the program alone is asked to end (TERM). It inherits no other file descriptors. Not thread-safe.
class Process {
 public:
  /// Starts it. Throws UsageError when there is no such program or folder, or when it cannot be run.
  explicit Process(ProcessCommand command);
  /// Ends the group if it still runs; blocks for at most the grace.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Blocks until the program has ended or has been ended. To be called once.
  ProcessResult wait();

 private:
  class Running;
  std::unique_ptr<Running> running_;
};

/// Starts it and waits for its end.
ProcessResult run_process(ProcessCommand command);

/// The arguments as one line that a POSIX shell would read back as the same arguments: for messages.
std::string command_line(const std::vector<std::string>& arguments);

}  // namespace ddpkit
