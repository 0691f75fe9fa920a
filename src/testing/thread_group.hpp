#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/topology.hpp"
#include "ddpkit/comm/buffer.hpp"
#include "ddpkit/comm/signature.hpp"
#include "ddpkit/testing/thread_world.hpp"

namespace ddpkit::testing {

/// What all ranks of one run share: one lock, one signal, and the end.
struct Run {
  ThreadWorldOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<CommError> failure;
  std::set<int> returned;  // ranks of the run whose body has ended

  /// Under the lock. The first failure counts.
  void fail(const CommError& error);
};

class ThreadGroup;

/// One rank's place in a group.
struct Seat {
  std::shared_ptr<ThreadGroup> group;
  int rank = 0;
};

/// What one rank brings to an operation.
struct Contribution {
  Signature signature;
  std::string tag = {};
  ConstBuffer in = {};
  Buffer out = {};
  int color = 0;
  int key = 0;
};

/// One operation. Whoever comes last carries it out for all.
struct Meeting {
  std::uint64_t sequence = 0;
  std::map<int, Contribution> arrived;  // by rank
  std::vector<Seat> seats;              // of a split, by rank
  bool done = false;
};

/// The ranks of one communicator.
class ThreadGroup {
 public:
  /// `members` are ranks of the run, which must outlive the group.
  ThreadGroup(Run& run, std::vector<int> members) : run_(run), members_(std::move(members)), issued_(members_.size()) {}

  int size() const noexcept { return static_cast<int>(members_.size()); }
  Topology topology_of(int rank) const;

  std::shared_ptr<Meeting> join(int rank, Contribution mine);
  void wait(int rank, const Meeting& meeting);
  bool done(const Meeting& meeting);
  void abort(int rank, const Error& reason);

 private:
  int node_of(int rank) const;
  void require_same(int rank, const Meeting& meeting, const Contribution& mine);
  void carry_out(Meeting& meeting);
  void seat_all(Meeting& meeting);
  std::vector<int> absent(const Meeting& meeting) const;
  std::vector<int> gone(const Meeting& meeting) const;
  [[noreturn]] void fail(const CommError& error);
  std::string describe_wait(int rank, const Meeting& meeting) const;

  Run& run_;
  std::vector<int> members_;
  std::vector<std::uint64_t> issued_;  // by rank
  std::map<std::uint64_t, std::shared_ptr<Meeting>> open_;
};

}  // namespace ddpkit::testing
