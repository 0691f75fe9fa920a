#include "ddpkit/data/loader.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/data/sequential_order.hpp"
#include "ddpkit/data/shuffle_order.hpp"
#include "numbered.hpp"
#include "support/catch.hpp"
#include "watched.hpp"

using namespace ddpkit;

TEST_CASE("after another cut the background goes on with that cut") {
  const Watched data(40);
  const SequentialOrder order(40);
  Loader loader(data, order, {.sampler = {.global = 20}, .micro = 10, .prefetch = {1}});
  const Window window = loader.next_window();
  data.wait_for_gathers(1);
  const Window again = window.recut(5);
  CHECK(again.fetch(0)->ids == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  data.wait_for_gathers(3);
  CHECK(again.fetch(1)->ids == std::vector<std::int64_t>{5, 6, 7, 8, 9});
  CHECK(loader.stats().gathered_on_demand == 1);
  CHECK(loader.stats().gathered_ahead == 1);
}

TEST_CASE("what comes next is gathered in the background, across the edges of windows and epochs") {
  const Watched data(8);
  const SequentialOrder order(8);
  Loader loader(data, order, {.sampler = {.global = 8}, .micro = 4, .prefetch = {1 << 20}});
  loader.next_window();
  data.wait_for_gathers(32);  // sixteen epochs of this little set, and nobody has fetched anything
  CHECK(data.gathers_of_consumer == 0);
}

TEST_CASE("no more is gathered ahead than the budget holds, but always one micro-batch, and never more than 32") {
  const SequentialOrder order(64);
  constexpr std::int64_t kBatchBytes = 2 * 64;  // two columns of 32 bytes, aligned
  for (const auto& [budget, batches] :
       {std::pair(std::int64_t{1}, 1), {5 * kBatchBytes, 5}, {16 * kBatchBytes - 1, 15}, {99 * kBatchBytes, 32}}) {
    const Watched data(64);
    {
      Loader loader(data, order, {.sampler = {.global = 64}, .micro = 4, .prefetch = {budget}, .workers = 2});
      const Window window = loader.next_window();
      data.wait_for_gathers(batches);
      window.fetch(0);
      data.wait_for_gathers(batches + 1);
    }
    CHECK(data.gathers == batches + 1);
  }
}

TEST_CASE("the steady state allocates no batch memory") {
  const InMemoryDataset data = numbered(1000);
  const ShuffleOrder order(1000, 3);
  for (const std::int64_t workers : kWorkers) {
    Loader loader(data, order,
                  {.sampler = {.global = 64, .tail = Tail::partial}, .micro = 16, .prefetch = {16 << 10}, .workers = workers});
    const std::int64_t ahead = (16 << 10) / (16 * 8 + 16 * 8);
    ids_of_windows(loader, 200);
    CHECK(loader.stats().allocations <= ahead + workers + 2);
    const std::int64_t before = loader.stats().allocations;
    if (workers == 0) {
      ids_of_windows(loader, 200);
      CHECK(loader.stats().allocations == before);
      CHECK(before == 1);
    }
  }
}

TEST_CASE("memory that somebody still holds is not used again") {
  const InMemoryDataset data = numbered(64);
  const ShuffleOrder order(64, 3);
  Loader loader(data, order, {.sampler = {.global = 8}, .micro = 8, .prefetch = {512}});
  std::vector<std::shared_ptr<const HostBatch>> held;
  for (int i = 0; i < 30; ++i) held.push_back(loader.next_window().fetch(0));
  for (const auto& batch : held) CHECK(rows_match_ids(*batch));
}

TEST_CASE("batches outlive the loader") {
  const InMemoryDataset data = numbered(16);
  const SequentialOrder order(16);
  std::shared_ptr<const HostBatch> batch;
  {
    Loader loader(data, order, {.sampler = {.global = 8}, .micro = 8});
    batch = loader.next_window().fetch(0);
  }
  CHECK(rows_match_ids(*batch));
}

TEST_CASE("batches are gathered into memory of the kind that the options name") {
  static std::atomic<int> blocks = 0;
  const InMemoryDataset data = numbered(16);
  const SequentialOrder order(16);
  Loader loader(data, order, {.sampler = {.global = 8}, .micro = 8, .workers = 0, .allocate = [](std::size_t bytes) {
                                ++blocks;
                                return allocate_aligned(bytes);
                              }});
  CHECK(rows_match_ids(*loader.next_window().fetch(0)));
  CHECK(blocks == 1);
}

TEST_CASE("what the data set throws comes out of fetch, each time it is asked, and what follows is unharmed") {
  for (const std::int64_t workers : kWorkers) {
    Watched data(40);
    data.broken = 13;
    const SequentialOrder order(40);
    Loader loader(data, order, {.sampler = {.global = 20}, .micro = 4, .workers = workers});
    const Window window = loader.next_window();
    for (std::int64_t index = 0; index < 3; ++index) CHECK(window.fetch(index)->rows == 4);
    for (int i = 0; i < 3; ++i) CHECK_THROWS_WITH(window.fetch(3), "sample is broken");
    CHECK(window.fetch(4)->rows == 4);
    data.broken = -1;
    CHECK(window.fetch(3)->ids == std::vector<std::int64_t>{12, 13, 14, 15});
    CHECK(ids_of(loader.next_window()).size() == 20);
  }
}

TEST_CASE("a window refuses to be fetched from once its loader has ended or moved on") {
  const InMemoryDataset data = numbered(16);
  const SequentialOrder order(16);
  std::optional<Loader> loader(std::in_place, data, order, LoaderOptions{.sampler = {.global = 8}, .micro = 8});
  const Window before_jump = loader->next_window();
  loader->jump({});
  CHECK_THROWS_AS(before_jump.fetch(0), UsageError);
  const Window last = loader->next_window();
  loader.reset();
  CHECK_THROWS_AS(last.fetch(0), UsageError);
}

TEST_CASE("a loader may end at any moment") {
  const InMemoryDataset data = numbered(256);
  const ShuffleOrder order(256, 3);
  for (const std::int64_t workers : {0, 1, 2, 5})
    for (int fetched = 0; fetched < 20; ++fetched) {
      Loader loader(data, order,
                    {.sampler = {.global = 64}, .micro = 4, .prefetch = {1 << (fetched % 14)}, .workers = workers});
      if (fetched == 0) continue;
      const Window window = loader.next_window();
      for (int index = 0; index < fetched && index < 16; ++index) window.fetch(index);
    }
}

TEST_CASE("without workers everything is gathered by the thread that asks, when it asks") {
  const Watched data(40);
  const SequentialOrder order(40);
  Loader loader(data, order, {.sampler = {.global = 20}, .micro = 4, .workers = 0});
  const Window window = loader.next_window();
  CHECK(data.gathers == 0);
  ids_of(window);
  CHECK(data.gathers == 5);
  CHECK(data.gathers_of_consumer == 5);
  CHECK(loader.stats().gathered_on_demand == 5);
  CHECK(loader.stats().gathered_ahead == 0);
}

TEST_CASE("time spent waiting for data is counted, also over a jump") {
  const InMemoryDataset data = numbered(4000);
  const ShuffleOrder order(4000, 3);
  Loader loader(data, order, {.sampler = {.global = 4000}, .micro = 4000, .workers = 0});
  CHECK(loader.stats().wait_seconds == 0);
  ids_of_windows(loader, 1);
  const double first = loader.stats().wait_seconds;
  CHECK(first > 0);
  loader.jump({});
  CHECK(loader.stats().wait_seconds == first);
  ids_of_windows(loader, 1);
  CHECK(loader.stats().wait_seconds > first);
}
