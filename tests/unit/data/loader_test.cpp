#include "ddpkit/data/loader.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/data/sequential_order.hpp"
#include "ddpkit/data/shuffle_order.hpp"
#include "errors.hpp"
#include "numbered.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr std::int64_t kWorkers[] = {0, 1, 3};

// Passes everything on and notes what is asked of it; a sample can be made to fail.
class Watched final : public Dataset {
 public:
  explicit Watched(std::int64_t size) : samples_(numbered(size)) {}

  std::int64_t size() const override { return samples_.size(); }
  std::span<const FieldSpec> fields() const override { return samples_.fields(); }
  void gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const override {
    if (std::this_thread::get_id() == consumer_) ++gathers_of_consumer;
    if (std::find(ids.begin(), ids.end(), broken.load()) != ids.end()) throw DataError("sample is broken");
    samples_.gather(ids, out);
    ++gathers;
  }
  void wait_for_gathers(std::int64_t count) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (gathers < count) {
      if (std::chrono::steady_clock::now() > deadline) FAIL(gathers << " micro-batches were gathered, expected " << count);
      std::this_thread::yield();
    }
  }

  mutable std::atomic<std::int64_t> gathers = 0;
  mutable std::atomic<std::int64_t> gathers_of_consumer = 0;
  std::atomic<std::int64_t> broken = -1;

 private:
  InMemoryDataset samples_;
  std::thread::id consumer_ = std::this_thread::get_id();
};

std::vector<std::int64_t> ids_of(const Window& window) {
  std::vector<std::int64_t> ids;
  for (std::int64_t index = 0; index < window.micro_batches(); ++index) {
    const auto held = window.fetch(index);
    const HostBatch& batch = *held;
    REQUIRE(rows_match_ids(batch));
    REQUIRE(batch.epoch == window.range().epoch);
    REQUIRE(batch.window == window.range().index);
    REQUIRE(batch.micro_index == index);
    ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  }
  return ids;
}

std::vector<std::int64_t> ids_of(const Order& order, const WindowRange& range) {
  std::vector<std::int64_t> ids;
  for (std::int64_t position = range.begin; position < range.end; ++position) ids.push_back(order.at(range.epoch, position));
  return ids;
}

std::vector<std::int64_t> ids_of_windows(Loader& loader, int windows) {
  std::vector<std::int64_t> ids;
  for (int i = 0; i < windows; ++i) {
    const auto more = ids_of(loader.next_window());
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return ids;
}

}  // namespace

TEST_CASE("windows come in order, epoch after epoch, with the samples of the order") {
  const InMemoryDataset data = numbered(50);
  const ShuffleOrder order(50, 3);
  for (const std::int64_t workers : kWorkers) {
    Loader loader(data, order, {.sampler = {.global = 12, .tail = Tail::partial}, .micro = 5, .workers = workers});
    for (std::int64_t epoch = 0; epoch < 4; ++epoch)
      for (std::int64_t index = 0; index < 5; ++index) {
        const Window window = loader.next_window();
        REQUIRE(window.range().epoch == epoch);
        REQUIRE(window.range().index == index);
        REQUIRE(ids_of(window) == ids_of(order, window.range()));
      }
  }
}

TEST_CASE("the loaders of all ranks give together exactly the window") {
  const InMemoryDataset data = numbered(100);
  const ShuffleOrder order(100, 3);
  for (const int world : {1, 2, 3, 4}) {
    for (const Tail tail : {Tail::drop, Tail::pad, Tail::partial}) {
      std::vector<std::unique_ptr<Loader>> loaders;
      for (int rank = 0; rank < world; ++rank)
        loaders.push_back(std::make_unique<Loader>(
            data, order,
            LoaderOptions{.sampler = {.global = 24, .tail = tail, .rank = rank, .world_size = world}, .micro = 5}));
      for (int i = 0; i < 12; ++i) {
        std::vector<std::int64_t> together;
        std::set<std::int64_t> micro_batches;
        WindowRange range;
        for (auto& loader : loaders) {
          const Window window = loader->next_window();
          range = window.range();
          micro_batches.insert(window.micro_batches());
          const auto mine = ids_of(window);
          together.insert(together.end(), mine.begin(), mine.end());
        }
        REQUIRE(together == ids_of(order, range));
        REQUIRE(micro_batches.size() == 1);
      }
    }
  }
}

TEST_CASE("a micro-batch without real rows has no rows and no arrays") {
  const InMemoryDataset data = numbered(9);
  const SequentialOrder order(9);
  Loader loader(data, order, {.sampler = {.global = 8, .tail = Tail::pad}, .micro = 2});
  loader.next_window();
  const Window last = loader.next_window();
  REQUIRE(last.micro_batches() == 4);
  CHECK(last.fetch(0)->rows == 1);
  for (std::int64_t index = 1; index < 4; ++index) {
    const auto held = last.fetch(index);
    const HostBatch& batch = *held;
    CHECK(batch.rows == 0);
    CHECK(batch.arrays.empty());
    CHECK(batch.ids.empty());
  }
}

TEST_CASE("resuming is a jump: what follows is what would have followed") {
  const InMemoryDataset data = numbered(50);
  const ShuffleOrder order(50, 3);
  const LoaderOptions options{.sampler = {.global = 12, .tail = Tail::partial}, .micro = 5};
  for (const int done : {1, 4, 5, 7, 13}) {  // inside epoch 0, at its last window, on the edge, and further on
    Loader uninterrupted(data, order, options);
    ids_of_windows(uninterrupted, done);
    LoaderOptions later = options;
    later.start = uninterrupted.state();
    Loader resumed(data, order, later);
    CHECK(ids_of_windows(resumed, 8) == ids_of_windows(uninterrupted, 8));
  }
}

TEST_CASE("a state of another world size continues with the same windows") {
  const InMemoryDataset data = numbered(50);
  const ShuffleOrder order(50, 3);
  Loader alone(data, order, {.sampler = {.global = 12, .tail = Tail::partial}, .micro = 12});
  ids_of_windows(alone, 3);
  std::vector<std::int64_t> together;
  for (int rank = 0; rank < 3; ++rank) {
    Loader third(
        data, order,
        {.sampler = {.global = 12, .tail = Tail::partial, .rank = rank, .world_size = 3}, .micro = 4, .start = alone.state()});
    const auto mine = ids_of(third.next_window());
    together.insert(together.end(), mine.begin(), mine.end());
  }
  CHECK(together == ids_of(alone.next_window()));
}

TEST_CASE("a changed global batch goes on where the loader stands and repeats or loses no sample") {
  const InMemoryDataset data = numbered(50);
  const ShuffleOrder order(50, 3);
  for (const std::int64_t workers : kWorkers) {
    Loader loader(data, order, {.sampler = {.global = 6, .tail = Tail::partial}, .micro = 4, .workers = workers});
    auto ids = ids_of_windows(loader, 3);
    loader.set_global(9);
    const auto rest = ids_of_windows(loader, static_cast<int>(loader.windows_left()));
    ids.insert(ids.end(), rest.begin(), rest.end());
    CHECK(ids == ids_of(order, {.epoch = 0, .begin = 0, .end = 50}));
    CHECK(loader.state() == SamplerState{.epoch = 0, .position = 50, .global = 9});
  }
}

TEST_CASE("a refused global batch leaves the loader as it was") {
  const InMemoryDataset data = numbered(50);
  const SequentialOrder order(50);
  Loader loader(data, order, {.sampler = {.global = 10}, .micro = 10});
  const Window window = loader.next_window();
  CHECK_THROWS_AS(loader.set_global(51), DataError);
  CHECK(ids_of(window).size() == 10);
  CHECK(loader.next_window().range().begin == 10);
}

TEST_CASE("a jump goes anywhere in the data") {
  const InMemoryDataset data = numbered(50);
  const ShuffleOrder order(50, 3);
  Loader loader(data, order, {.sampler = {.global = 10}, .micro = 10});
  const auto first = ids_of_windows(loader, 3);
  loader.jump({});
  CHECK(ids_of_windows(loader, 3) == first);
  loader.jump({.epoch = 7, .position = 20});
  CHECK(ids_of(loader.next_window()) == ids_of(order, {.epoch = 7, .begin = 20, .end = 30}));
  CHECK_THROWS_AS(loader.jump({.epoch = 0, .position = 51}), DataError);
}

TEST_CASE("a window can be fetched again, whole or in part, and later ones are not disturbed") {
  const InMemoryDataset data = numbered(40);
  const ShuffleOrder order(40, 3);
  for (const std::int64_t workers : kWorkers) {
    Loader loader(data, order, {.sampler = {.global = 20}, .micro = 4, .workers = workers});
    const Window window = loader.next_window();
    const auto first = ids_of(window);
    CHECK(ids_of(window) == first);
    CHECK(window.fetch(2)->ids == std::vector(first.begin() + 8, first.begin() + 12));
    const Window second = loader.next_window();
    CHECK(ids_of(second) == ids_of(order, second.range()));
    CHECK(ids_of(window) == first);
  }
}

TEST_CASE("a window cut again gives the same samples in other micro-batches") {
  const InMemoryDataset data = numbered(40);
  const ShuffleOrder order(40, 3);
  for (const std::int64_t workers : kWorkers) {
    Loader loader(data, order, {.sampler = {.global = 20}, .micro = 10, .workers = workers});
    const Window window = loader.next_window();
    window.fetch(0);
    for (const std::int64_t micro : {5, 3, 1, 20}) {
      const Window again = window.recut(micro);
      CHECK(again.micro_batches() == (20 + micro - 1) / micro);
      CHECK(ids_of(again) == ids_of(order, window.range()));
    }
    const Window second = loader.next_window();
    CHECK(second.micro() == 10);
    CHECK(ids_of(second) == ids_of(order, second.range()));
    loader.set_micro(7);
    const Window third = loader.next_window();
    CHECK(third.micro() == 7);
    CHECK(ids_of(third) == ids_of(order, third.range()));
  }
}

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

TEST_CASE("windows may be skipped, or taken before the first is fetched") {
  const InMemoryDataset data = numbered(60);
  const ShuffleOrder order(60, 3);
  for (const std::int64_t workers : kWorkers) {
    Loader loader(data, order, {.sampler = {.global = 10}, .micro = 4, .workers = workers});
    loader.next_window();
    const Window second = loader.next_window();
    for (int i = 0; i < 20; ++i) loader.next_window();
    const Window far = loader.next_window();
    CHECK(ids_of(second) == ids_of(order, second.range()));
    CHECK(ids_of(far) == ids_of(order, far.range()));
    CHECK(ids_of(second) == ids_of(order, second.range()));
  }
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

TEST_CASE("a range-for runs through the rest of an epoch, then through the next") {
  const InMemoryDataset data = numbered(50);
  const SequentialOrder order(50);
  Loader loader(data, order, {.sampler = {.global = 12, .tail = Tail::partial}, .micro = 12});
  loader.next_window();
  std::vector<std::int64_t> first, second;
  for (Window& window : loader) first.push_back(window.range().begin);
  for (Window& window : loader) {
    CHECK(window.range().epoch == 1);
    second.push_back(window.range().begin);
  }
  CHECK(first == std::vector<std::int64_t>{12, 24, 36, 48});
  CHECK(second == std::vector<std::int64_t>{0, 12, 24, 36, 48});
}

TEST_CASE("options that no loader can have are refused at once") {
  const InMemoryDataset data = numbered(50);
  const SequentialOrder order(50);
  const auto make = [&](const LoaderOptions& options) { const Loader loader(data, order, options); };
  CHECK_THROWS_AS(make({.sampler = {.global = 10}, .micro = 0}), ConfigError);
  CHECK_THROWS_AS(make({.sampler = {.global = 10}, .micro = 1, .start = {.position = 51}}), DataError);
  CHECK_THAT(message_of<ConfigError>(
                 [&] { make({.sampler = {.global = 10}, .transforms = make_transforms({.flip = true}, Phase::train, 0)}); }),
             mentions("images"));
}
