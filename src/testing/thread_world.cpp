#include "ddpkit/testing/thread_world.hpp"

#include <exception>
#include <numeric>
#include <thread>
#include <vector>

#include "ddpkit/base/text.hpp"
#include "testing/thread_communicator.hpp"

namespace ddpkit::testing {
namespace {

CommError as_seen_by_others(int rank, std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return CommError(text("rank ", rank, " failed: ", error.what()), error.status());
  } catch (const std::exception& error) {
    return CommError(text("rank ", rank, " failed: ", error.what()), ExitStatus::internal);
  } catch (...) {
    return CommError(text("rank ", rank, " failed with something that is no std::exception"), ExitStatus::internal);
  }
}

std::vector<int> first_integers(int count) {
  std::vector<int> integers(static_cast<std::size_t>(count));
  std::iota(integers.begin(), integers.end(), 0);
  return integers;
}

// The bodies of all ranks and the first thing that any of them threw.
class Ranks {
 public:
  Ranks(int count, const ThreadWorldOptions& options) : group_(std::make_shared<ThreadGroup>(run_, first_integers(count))) {
    run_.options = options;
  }

  void run(const std::function<void(Communicator&)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < group_->size(); ++rank) threads.emplace_back([this, rank, &body] { run_one(rank, body); });
    for (std::thread& thread : threads) thread.join();
    if (first_) std::rethrow_exception(first_);
  }

 private:
  void run_one(int rank, const std::function<void(Communicator&)>& body) {
    std::exception_ptr thrown;
    try {
      ThreadCommunicator communicator({group_, rank});
      body(communicator);
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(run_.mutex);
    run_.returned.insert(rank);
    if (thrown && !first_) first_ = thrown;
    if (thrown) run_.fail(as_seen_by_others(rank, thrown));
    run_.changed.notify_all();
  }

  Run run_;
  std::shared_ptr<ThreadGroup> group_;
  std::exception_ptr first_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& body, const ThreadWorldOptions& options) {
  Ranks(ranks, options).run(body);
}

}  // namespace ddpkit::testing
