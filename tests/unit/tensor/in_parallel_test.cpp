#include "tensor/in_parallel.hpp"

#include <ATen/Parallel.h>

#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace {

/// Sets LibTorch's number of threads for one test.
class ThreadCount {
 public:
  explicit ThreadCount(int count) { at::set_num_threads(count); }
  ~ThreadCount() { at::set_num_threads(before_); }

 private:
  int before_ = at::get_num_threads();
};

struct Visits {
  std::vector<int> of_index;
  std::set<std::thread::id> threads;
};

Visits visit(std::int64_t count, std::int64_t grain) {
  Visits visits{.of_index = std::vector<int>(static_cast<std::size_t>(count))};
  std::mutex mutex;
  ddpkit::in_parallel(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    visits.threads.insert(std::this_thread::get_id());
    for (std::int64_t i = begin; i < end; ++i) ++visits.of_index[static_cast<std::size_t>(i)];
  });
  return visits;
}

}  // namespace

TEST_CASE("every index is visited once, on as many threads as LibTorch has") {
  for (const int threads : {1, 3}) {
    const ThreadCount guard(threads);
    const Visits visits = visit(100, 1);
    CHECK(visits.of_index == std::vector<int>(100, 1));
    CHECK(visits.threads.size() == static_cast<std::size_t>(threads));
  }
}

TEST_CASE("little work stays on the caller's thread, and none calls nobody") {
  const ThreadCount guard(3);
  CHECK(visit(4, 4).threads == std::set{std::this_thread::get_id()});
  CHECK(visit(0, 1).threads.empty());
}
