#include "ddpkit/base/process.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/start_program.hpp"

namespace ddpkit {
namespace {

using Clock = std::chrono::steady_clock;

// How long a child's end may go unnoticed. The end of its output cannot stand for it: a descendant may hold the pipes open.
constexpr std::chrono::milliseconds kLook{20};

/// The read end of a pipe and what came through it.
class Catch {
 public:
  explicit Catch(FileDescriptor pipe) : pipe_(std::move(pipe)) {}

  int descriptor() const noexcept { return pipe_.get(); }  // negative once closed, which poll() passes over

  /// Takes what is there; calls `keep` for each piece.
  template <class Keep>
  void drain(const Keep& keep) {
    std::array<char, 65536> block{};
    while (pipe_) {
      const ssize_t got = read(pipe_.get(), block.data(), block.size());
      if (got > 0)
        keep(std::string_view(block.data(), static_cast<std::size_t>(got)));
      else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        pipe_.reset();
      else if (errno == EAGAIN)
        return;
    }
  }

 private:
  FileDescriptor pipe_;
};

Clock::time_point later(Clock::time_point start, std::chrono::milliseconds time) {
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::time_point::max() - start);
  return time >= most ? Clock::time_point::max() : start + time;
}

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_-+=./:,@%").find(c) != std::string_view::npos;
}

std::string quoted(const std::string& argument) {
  if (!argument.empty() && std::ranges::all_of(argument, is_plain)) return argument;
  std::string out = "'";
  for (const char c : argument) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

class Process::Running {
 public:
  explicit Running(ProcessCommand command) : Running(std::move(command), Clock::now()) {}

  ~Running() {
    if (reaped_) return;
    end_group_in_time(Clock::now());
    reap();
  }

  ProcessResult wait() {
    const Clock::time_point deadline = later(start_, command_.time_limit);
    while (!has_ended() && Clock::now() < deadline) catch_outputs(deadline);
    const bool in_time = has_ended();
    end_group_in_time(deadline);
    catch_what_is_there();
    reap();
    if (!in_time) result_.end = ProcessResult::End::timed_out;
    result_.time = Clock::now() - start_;
    return std::move(result_);
  }

 private:
  Running(ProcessCommand command, Clock::time_point start) : Running(start_program(command), std::move(command), start) {}

  Running(StartedProgram program, ProcessCommand&& command, Clock::time_point start)
      : command_(std::move(command)),
        start_(start),
        pid_(program.pid),
        output_(std::move(program.output)),
        error_(std::move(program.error)) {}

  // Leaves it as a zombie, so that its number, which is the group's too, is not given to others before the group is ended.
  bool has_ended() const noexcept {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
  }

  void catch_outputs(Clock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    const auto time = std::clamp(left, std::chrono::milliseconds(0), kLook);
    std::array<pollfd, 2> pipes{{{output_.descriptor(), POLLIN, 0}, {error_.descriptor(), POLLIN, 0}}};
    poll(pipes.data(), pipes.size(), static_cast<int>(time.count()));
    catch_what_is_there();
  }

  void catch_what_is_there() {
    output_.drain([this](std::string_view piece) {
      const std::size_t kept = std::min(piece.size(), command_.output_bytes - result_.output.size());
      result_.output += piece.substr(0, kept);
      result_.output_dropped += piece.size() - kept;
    });
    error_.drain([this](std::string_view piece) {
      result_.error_tail += piece;
      if (result_.error_tail.size() > command_.error_bytes)
        result_.error_tail.erase(0, result_.error_tail.size() - command_.error_bytes);
    });
  }

  // A leader that still runs is asked and given the grace; what is left of its group then goes without being asked.
  void end_group_in_time(Clock::time_point now) {
    if (!has_ended()) {
      kill(-pid_, SIGTERM);
      const Clock::time_point last = later(std::max(now, Clock::now()), command_.grace);
      while (!has_ended() && Clock::now() < last) catch_outputs(last);
    }
    kill(-pid_, SIGKILL);
  }

  void reap() noexcept {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    result_.end = WIFSIGNALED(status) ? ProcessResult::End::signalled : ProcessResult::End::exited;
    result_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    result_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  ProcessCommand command_;
  Clock::time_point start_;
  pid_t pid_;
  Catch output_;
  Catch error_;
  ProcessResult result_;
  bool reaped_ = false;
};

Process::Process(ProcessCommand command) : running_(std::make_unique<Running>(std::move(command))) {}

Process::~Process() = default;

ProcessResult Process::wait() {
  return running_->wait();
}

ProcessResult run_process(ProcessCommand command) {
  return Process(std::move(command)).wait();
}

std::string command_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& argument : arguments) line += (line.empty() ? "" : " ") + quoted(argument);
  return line;
}

}  // namespace ddpkit
