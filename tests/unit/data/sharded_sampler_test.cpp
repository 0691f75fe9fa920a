#include "ddpkit/data/sharded_sampler.hpp"

#include <algorithm>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "errors.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

ShardedSampler sampler_of(std::int64_t samples, std::int64_t global, Tail tail, int world = 1, int rank = 0,
                          Phase phase = Phase::train) {
  return {samples, {.global = global, .tail = tail, .phase = phase, .rank = rank, .world_size = world}};
}

// The positions that a rank sees in one window, micro-batch by micro-batch.
std::vector<std::int64_t> seen_by_rank(const ShardedSampler& sampler, const WindowRange& window, std::int64_t micro) {
  std::vector<std::int64_t> positions;
  for (std::int64_t index = 0; index * micro < sampler.local_batch(window); ++index) {
    const PositionRange rows = sampler.rows(window, micro, index);
    REQUIRE(rows.size() <= micro);
    for (std::int64_t position = rows.begin; position < rows.end; ++position) positions.push_back(position);
  }
  return positions;
}

std::vector<std::int64_t> from_to(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> positions;
  for (std::int64_t position = begin; position < end; ++position) positions.push_back(position);
  return positions;
}

}  // namespace

TEST_CASE("the ranks' micro-batches of a window are together exactly the window") {
  for (const int world : {1, 2, 3, 4, 7})
    for (const Tail tail : {Tail::drop, Tail::pad, Tail::partial})
      for (const std::int64_t local : {1, 5, 6})
        for (const std::int64_t micro : {1, 2, 4, 100}) {
          const std::int64_t global = local * world;
          const std::int64_t samples = 3 * global + global / 2;
          const std::int64_t windows = sampler_of(samples, global, tail, world).windows_per_epoch();
          for (std::int64_t index = 0; index < windows; ++index) {
            const WindowRange window = sampler_of(samples, global, tail, world).window(2, index);
            std::vector<std::int64_t> together;
            for (int rank = 0; rank < world; ++rank) {
              const auto mine = seen_by_rank(sampler_of(samples, global, tail, world, rank), window, micro);
              together.insert(together.end(), mine.begin(), mine.end());
            }
            if (together != from_to(window.begin, window.end))
              FAIL("world " << world << ", global " << global << ", micro " << micro << ", window " << index);
          }
        }
}

TEST_CASE("windows do not depend on the world size") {
  const auto alone = sampler_of(100, 12, Tail::partial, 1);
  for (const int world : {2, 3, 4, 6}) {
    const auto many = sampler_of(100, 12, Tail::partial, world);
    REQUIRE(many.windows_per_epoch() == alone.windows_per_epoch());
    for (std::int64_t index = 0; index < alone.windows_per_epoch(); ++index) {
      CHECK(many.window(0, index).begin == alone.window(0, index).begin);
      CHECK(many.window(0, index).end == alone.window(0, index).end);
    }
  }
}

TEST_CASE("drop leaves out what does not fill a window, pad and partial keep it") {
  CHECK(sampler_of(10, 4, Tail::drop).windows_per_epoch() == 2);
  CHECK(sampler_of(10, 4, Tail::pad).windows_per_epoch() == 3);
  CHECK(sampler_of(10, 4, Tail::partial).windows_per_epoch() == 3);
  CHECK(sampler_of(10, 4, Tail::partial).window(0, 2).samples() == 2);
  CHECK(sampler_of(8, 4, Tail::partial).windows_per_epoch() == 2);
}

TEST_CASE("a padded window has the micro-batches of a full one, a partial one as many as its samples need") {
  const auto pad = sampler_of(105, 100, Tail::pad, 4);
  const auto partial = sampler_of(105, 100, Tail::partial, 4);
  CHECK(pad.local_batch(pad.window(0, 0)) == 25);
  CHECK(partial.local_batch(partial.window(0, 0)) == 25);
  CHECK(pad.local_batch(pad.window(0, 1)) == 25);
  CHECK(partial.local_batch(partial.window(0, 1)) == 2);
}

TEST_CASE("seven samples on two ranks give both as many micro-batches, and shares that differ by one row at most") {
  for (const Tail tail : {Tail::pad, Tail::partial}) {
    const auto first = sampler_of(7, 4, tail, 2, 0);
    const auto second = sampler_of(7, 4, tail, 2, 1);
    REQUIRE(first.windows_per_epoch() == 2);
    const WindowRange last = first.window(0, 1);
    CHECK(first.local_batch(last) == second.local_batch(last));
    CHECK(first.share(last) == PositionRange{4, 5});
    CHECK(second.share(last) == PositionRange{5, 7});
  }
}

TEST_CASE("the samples of a short window are spread evenly over many ranks") {
  constexpr int kWorld = 7;
  for (std::int64_t real = 1; real <= 70; ++real) {
    std::int64_t least = 70, most = 0;
    for (int rank = 0; rank < kWorld; ++rank) {
      const auto sampler = sampler_of(70 + real, 70, Tail::pad, kWorld, rank);
      const std::int64_t rows = sampler.share(sampler.window(0, 1)).size();
      least = std::min(least, rows);
      most = std::max(most, rows);
    }
    CHECK(most - least <= 1);
  }
}

TEST_CASE("a global batch that ranks cannot share equally is refused with the nearest that they can") {
  CHECK_THAT(message_of<ConfigError>([] { sampler_of(100, 10, Tail::drop, 4); }),
             mentions("10 samples") && mentions("8 or 12"));
  CHECK_THAT(message_of<ConfigError>([] { sampler_of(100, 3, Tail::drop, 4); }), mentions("nearest: 4"));
  CHECK_THROWS_AS(sampler_of(100, 0, Tail::drop, 4), ConfigError);
  CHECK_THROWS_AS(sampler_of(100, -4, Tail::drop, 4), ConfigError);
}

TEST_CASE("an empty data set is refused in training and in evaluation") {
  for (const Phase phase : {Phase::train, Phase::evaluate})
    CHECK_THAT(message_of<DataError>([&] { sampler_of(0, 4, Tail::partial, 2, 0, phase); }), mentions("empty"));
}

TEST_CASE("fewer samples than ranks are refused in training with both figures") {
  CHECK_THAT(message_of<DataError>([] { sampler_of(3, 4, Tail::partial, 4); }), mentions("3 samples") && mentions("4 ranks"));
}

TEST_CASE("less than one window under drop is refused with another tail as the way out") {
  CHECK_THAT(message_of<DataError>([] { sampler_of(7, 8, Tail::drop, 2); }),
             mentions("7 samples") && mentions("global batch of 8") && mentions("partial"));
}

TEST_CASE("evaluation counts every sample exactly once on any number of ranks, also fewer samples than ranks") {
  for (int world = 1; world <= 6; ++world)
    for (std::int64_t samples = 1; samples <= 25; ++samples) {
      std::vector<std::int64_t> counts(static_cast<std::size_t>(samples));
      for (int rank = 0; rank < world; ++rank) {
        const auto sampler = sampler_of(samples, 2 * world, Tail::partial, world, rank, Phase::evaluate);
        for (std::int64_t index = 0; index < sampler.windows_per_epoch(); ++index)
          for (const std::int64_t position : seen_by_rank(sampler, sampler.window(0, index), 2))
            ++counts[static_cast<std::size_t>(position)];
      }
      if (std::count(counts.begin(), counts.end(), 1) != samples) FAIL("world " << world << ", samples " << samples);
    }
}

TEST_CASE("the windows that follow one another are those of the table, across epochs") {
  const auto sampler = sampler_of(10, 4, Tail::partial);
  SamplerState state;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch)
    for (std::int64_t index = 0; index < 3; ++index) {
      const WindowRange window = sampler.next(state);
      CHECK(window.epoch == epoch);
      CHECK(window.index == index);
      CHECK(window.begin == sampler.window(epoch, index).begin);
      CHECK(window.end == sampler.window(epoch, index).end);
      state = sampler.after(window);
    }
}

TEST_CASE("drop goes to the next epoch when what is left fills no window") {
  const auto sampler = sampler_of(10, 4, Tail::drop);
  const WindowRange window = sampler.next({.epoch = 3, .position = 8, .global = 4});
  CHECK(window.epoch == 4);
  CHECK(window.begin == 0);
}

TEST_CASE("a global batch changed inside an epoch goes on where it stood, every sample once") {
  for (const std::int64_t second : {1, 3, 8, 50}) {
    std::vector<std::int64_t> seen;
    SamplerState state;
    const auto run = [&](const ShardedSampler& sampler, std::int64_t windows) {
      for (std::int64_t i = 0; i < windows; ++i) {
        const WindowRange window = sampler.next(state);
        CHECK(window.epoch == 0);
        CHECK(window.begin == state.position);
        for (std::int64_t position = window.begin; position < window.end; ++position) seen.push_back(position);
        state = sampler.after(window);
      }
    };
    run(sampler_of(47, 5, Tail::partial), 3);
    const auto changed = sampler_of(47, second, Tail::partial);
    run(changed, changed.windows_from(state.position));
    CHECK(seen == from_to(0, 47));
    CHECK(changed.next(state).epoch == 1);
  }
}

TEST_CASE("window numbers increase by one also from a position that is no multiple of the global batch") {
  const auto sampler = sampler_of(100, 10, Tail::partial);
  SamplerState state{.position = 15};
  for (std::int64_t index = 2; index < 10; ++index) {
    const WindowRange window = sampler.next(state);
    CHECK(window.index == index);
    state = sampler.after(window);
  }
}

TEST_CASE("shares of windows with more samples than 32 bits count do not overflow") {
  const std::int64_t global = std::int64_t{3} << 60;
  const auto last = sampler_of(global, global, Tail::drop, 3, 2);
  CHECK(last.share(last.window(0, 0)) == PositionRange{std::int64_t{2} << 60, global});
}
