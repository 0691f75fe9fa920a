#include "ddpkit/data/loader.hpp"

#include <utility>

#include "data/prefetcher.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

SamplerState checked(const SamplerState& state, std::int64_t positions) {
  if (state.epoch >= 0 && state.position >= 0 && state.position <= positions) return state;
  throw DataError(text("cannot go on at epoch ", state.epoch, ", position ", state.position, ": an epoch has ", positions,
                       " positions; has the data set changed since the checkpoint?"));
}

std::int64_t checked_micro(std::int64_t micro) {
  if (micro < 1) throw ConfigError(text("batch.micro: expected at least 1, got ", micro));
  return micro;
}

}  // namespace

Loader::Loader(const Dataset& dataset, const Order& order, const LoaderOptions& options)
    : dataset_(dataset),
      order_(order),
      options_(options),
      sampler_(order.size(), options.sampler),
      state_(checked(options.start, order.size())),
      pool_(std::make_shared<BatchPool>(options.allocate)) {
  checked_micro(options.micro);
  options.transforms.check(dataset.fields());
}

Loader::~Loader() {
  close();
}

void Loader::open() {
  BatchGatherer gatherer(dataset_, order_, sampler_, options_.transforms, pool_);
  prefetcher_ =
      std::make_shared<Prefetcher>(std::move(gatherer), BatchKey{sampler_.next(state_), options_.micro, 0},
                                   Prefetcher::Options{.budget_bytes = options_.prefetch.count, .workers = options_.workers});
}

void Loader::close() {
  if (!prefetcher_) return;
  prefetcher_->close();
  closed_stats_ = stats();
  prefetcher_.reset();
}

Window Loader::next_window() {
  if (!prefetcher_) open();
  const WindowRange range = sampler_.next(state_);
  state_ = sampler_.after(range);
  return {range, sampler_.local_batch(range), options_.micro, prefetcher_};
}

void Loader::set_micro(std::int64_t micro) {
  options_.micro = checked_micro(micro);
}

void Loader::set_global(std::int64_t global) {
  options_.sampler.global = global;
  sampler_ = ShardedSampler(order_.size(), options_.sampler);
  close();
}

void Loader::jump(const SamplerState& state) {
  state_ = checked(state, order_.size());
  close();
}

LoaderStats Loader::stats() const {
  LoaderStats sum = closed_stats_;
  if (prefetcher_) {
    const LoaderStats now = prefetcher_->stats();
    sum.wait_seconds += now.wait_seconds;
    sum.gathered_ahead += now.gathered_ahead;
    sum.gathered_on_demand += now.gathered_on_demand;
  }
  sum.allocations = pool_->allocations();
  return sum;
}

}  // namespace ddpkit
