#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace bench {

/// A program beside this rank that does a rival's work: Python, which MPI should not see. It reads a line "NAME ITERATIONS"
/// whenever it is its turn, does its block together with the other ranks' companions, and answers with the seconds it took; it
/// sleeps in between. Started before MPI and LibTorch are, since neither likes a fork. It dies with its owner.
class Companion {
 public:
  /// `command` gets the rank, the number of ranks and a file to meet at as three more arguments. Throws StorageError when it
  /// cannot be started.
  Companion(std::vector<std::string> command, std::chrono::seconds limit);
  ~Companion();
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  /// Waits for its first line, "ready". False when it ended instead; it has said why on its standard error.
  bool ready();

  /// Throws CommError when it ends or takes longer than the limit.
  double block(const std::string& name, int iterations);

 private:
  std::string read_line();

  std::chrono::seconds limit_;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string meeting_file_;
};

}  // namespace bench
