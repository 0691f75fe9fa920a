#include "ddpkit/data/loader.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/data/sequential_order.hpp"
#include "ddpkit/data/shuffle_order.hpp"
#include "errors.hpp"
#include "numbered.hpp"
#include "support/catch.hpp"
#include "watched.hpp"

using namespace ddpkit;

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
