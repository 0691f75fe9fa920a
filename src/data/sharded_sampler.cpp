#include "ddpkit/data/sharded_sampler.hpp"

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

void require_divisible(std::int64_t global, std::int64_t world) {
  if (global >= 1 && global % world == 0) return;
  const std::int64_t below = std::max<std::int64_t>(global, 0) / world * world;
  const std::string nearest = below < 1 ? text(world) : text(below, " or ", below + world);
  throw ConfigError(
      text("batch.global: ", global, " samples cannot be shared equally by ", world, " ranks; nearest: ", nearest));
}

void require_enough(std::int64_t samples, const SamplerOptions& options) {
  if (samples < 1) throw DataError("the data set is empty: expected at least one sample");
  if (options.phase == Phase::train && samples < options.world_size)
    throw DataError(text("the data set has ", samples, samples == 1 ? " sample" : " samples", ", fewer than the ",
                         options.world_size, " ranks that train on it; start fewer ranks"));
  if (options.tail == Tail::drop && samples < options.global)
    throw DataError(text("the data set has ", samples, " samples, fewer than one global batch of ", options.global,
                         ", and data.tail: drop leaves nothing; use data.tail: partial or a smaller batch.global"));
}

}  // namespace

ShardedSampler::ShardedSampler(std::int64_t samples, const SamplerOptions& options) : samples_(samples), options_(options) {
  if (options.rank < 0 || options.rank >= options.world_size)
    throw UsageError(text("rank ", options.rank, " is not in a world of ", options.world_size));
  require_divisible(options.global, options.world_size);
  require_enough(samples, options);
}

std::int64_t ShardedSampler::windows_from(std::int64_t position) const noexcept {
  const std::int64_t left = samples_ - position;
  return options_.tail == Tail::drop ? left / options_.global : ceil_div(left, options_.global);
}

WindowRange ShardedSampler::window(std::int64_t epoch, std::int64_t index) const noexcept {
  const std::int64_t begin = index * options_.global;
  const std::int64_t end = begin + std::min(options_.global, samples_ - begin);
  return {.epoch = epoch, .index = index, .begin = begin, .end = end, .global = options_.global};
}

WindowRange ShardedSampler::next(const SamplerState& state) const noexcept {
  if (windows_from(state.position) < 1) return window(state.epoch + 1, 0);
  const std::int64_t end = state.position + std::min(options_.global, samples_ - state.position);
  return {.epoch = state.epoch,
          .index = ceil_div(state.position, options_.global),
          .begin = state.position,
          .end = end,
          .global = options_.global};
}

std::int64_t ShardedSampler::local_batch(const WindowRange& window) const noexcept {
  const std::int64_t counted = options_.tail == Tail::partial ? window.samples() : window.global;
  return ceil_div(counted, options_.world_size);
}

PositionRange ShardedSampler::share(const WindowRange& window) const noexcept {
  const std::int64_t each = window.samples() / options_.world_size;
  const std::int64_t left = window.samples() % options_.world_size;
  const auto begin_of = [&](std::int64_t rank) {
    return window.begin + each * rank + left * rank / options_.world_size;  // m*r/W, which could overflow, in two parts
  };
  return {begin_of(options_.rank), begin_of(options_.rank + 1)};
}

PositionRange ShardedSampler::rows(const WindowRange& window, std::int64_t micro, std::int64_t micro_index) const noexcept {
  const PositionRange mine = share(window);
  const std::int64_t begin = std::min(mine.begin + micro * micro_index, mine.end);
  return {begin, begin + std::min(micro, mine.end - begin)};
}

}  // namespace ddpkit
