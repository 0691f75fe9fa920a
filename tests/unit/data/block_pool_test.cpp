#include "data/block_pool.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("a block that nobody holds any more is given out again") {
  BlockPool pool;
  const std::byte* first = pool.take(256).get();
  CHECK(pool.take(256).get() == first);
  CHECK(pool.allocations() == 1);
}

TEST_CASE("a block that somebody holds is not given out, also when only a part of it is held") {
  BlockPool pool;
  std::shared_ptr<std::byte[]> part;
  {
    const auto block = pool.take(256);
    part = {block, block.get() + 64};
  }
  const auto other = pool.take(256);
  CHECK(other.get() != part.get() - 64);
  CHECK(pool.allocations() == 2);
}

TEST_CASE("another size forgets the blocks of the old one, also those that come back late") {
  BlockPool pool;
  auto small = pool.take(256);
  const auto large = pool.take(512);
  small.reset();
  const auto other = pool.take(512);  // must not be the small one
  CHECK(pool.allocations() == 3);
  pool.take(256);
  CHECK(pool.allocations() == 4);
}

TEST_CASE("a block may outlive the pool") {
  std::shared_ptr<std::byte[]> block;
  {
    BlockPool pool;
    block = pool.take(64);
  }
  block[63] = std::byte{1};
  CHECK(block[63] == std::byte{1});
}

TEST_CASE("many threads share a pool without sharing a block") {
  BlockPool pool;
  std::atomic<bool> shared = false;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 2000; ++i) {
          const auto block = pool.take(64);
          block[0] = static_cast<std::byte>(t);
          if (block[0] != static_cast<std::byte>(t)) shared = true;
        }
      });
  }
  CHECK(!shared);
  CHECK(pool.allocations() <= 4);
}
