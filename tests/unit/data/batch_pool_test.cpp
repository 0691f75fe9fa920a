#include "data/batch_pool.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "ddpkit/data/host_array.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

struct Borrowed final : HostBatch::Extension {
  bool unused() const noexcept override { return !borrowed; }
  bool borrowed = true;
};

}  // namespace

TEST_CASE("a batch that nobody holds any more is given out again") {
  BatchPool pool(&allocate_aligned);
  const BatchFrame* first = pool.take(256).get();
  CHECK(pool.take(256).get() == first);
  CHECK(pool.allocations() == 1);
}

TEST_CASE("a batch that somebody holds is not given out") {
  BatchPool pool(&allocate_aligned);
  const auto held = pool.take(256);
  CHECK(pool.take(256) != held);
  CHECK(pool.allocations() == 2);
}

TEST_CASE("a batch of which the layer above still uses a part is not given out") {
  BatchPool pool(&allocate_aligned);
  const auto views = std::make_shared<Borrowed>();
  const BatchFrame* first = pool.take(256).get();
  pool.take(256)->batch.extension = views;
  CHECK(pool.take(256).get() != first);
  views->borrowed = false;
  CHECK(pool.take(256).get() == first);
}

TEST_CASE("another size forgets the blocks of the old one, also those that come back late") {
  BatchPool pool(&allocate_aligned);
  auto small = pool.take(256);
  const auto large = pool.take(512);
  small.reset();
  const auto other = pool.take(512);  // must not be the small one
  CHECK(pool.allocations() == 3);
  pool.take(256);
  CHECK(pool.allocations() == 4);
}

TEST_CASE("a batch may outlive the pool") {
  std::shared_ptr<BatchFrame> frame;
  {
    BatchPool pool(&allocate_aligned);
    frame = pool.take(64);
  }
  frame->block[63] = std::byte{1};
  CHECK(frame->block[63] == std::byte{1});
}

TEST_CASE("many threads share a pool without sharing a batch") {
  BatchPool pool(&allocate_aligned);
  std::atomic<bool> shared = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 2000; ++i) {
          const auto frame = pool.take(64);
          frame->block[0] = static_cast<std::byte>(t);
          if (frame->block[0] != static_cast<std::byte>(t)) shared = true;
        }
      });
  }
  CHECK(!shared);
  CHECK(pool.allocations() <= 4);
}
