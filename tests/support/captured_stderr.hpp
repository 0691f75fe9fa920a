#pragma once

#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace ddpkit::testing {

/// Sends standard error into a file of its own from construction to destruction.
class CapturedStderr {
 public:
  CapturedStderr() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    if (file_ == nullptr || before_ < 0) throw std::runtime_error("cannot capture standard error");
    std::fflush(stderr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~CapturedStderr() {
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  /// Everything written so far.
  std::string text() const {
    std::fflush(stderr);
    std::string out;
    char block[4096];
    off_t offset = 0;
    while (true) {
      const ssize_t got = pread(fileno(file_), block, sizeof block, offset);
      if (got <= 0) return out;
      out.append(block, static_cast<std::size_t>(got));
      offset += got;
    }
  }

 private:
  std::FILE* file_;
  int before_;
};

}  // namespace ddpkit::testing
