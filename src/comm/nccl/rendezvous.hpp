#pragma once

#include <string>
#include <vector>

namespace ddpkit::nccl {

/// How the ranks find each other before NCCL stands.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual int rank() const = 0;
  virtual int world_size() const = 0;

  /// Every rank's text, in rank order. Collective, blocking, to be called once. Throws CommError past the time limit
  /// (ExitStatus::timeout), naming the ranks that did not come.
  virtual std::vector<std::string> meet(const std::string& mine) = 0;
};

/// "ranks 2, 5 of 8"
std::string name_ranks(const std::vector<int>& ranks, int world_size);

}  // namespace ddpkit::nccl
