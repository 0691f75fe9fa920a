#include "data/prefetcher.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "ddpkit/base/error.hpp"

namespace ddpkit {
namespace {

// More would hide no longer a pause, but push what was gathered first out of the cache, and delay the first step.
constexpr std::size_t kMostAhead = 32;

}  // namespace

Prefetcher::Prefetcher(BatchGatherer gatherer, const BatchKey& first, const Options& options)
    : gatherer_(std::move(gatherer)), budget_bytes_(static_cast<std::size_t>(options.budget_bytes)), next_(first) {
  for (std::int64_t i = 0; i < options.workers; ++i) workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

Prefetcher::~Prefetcher() {
  close();
}

void Prefetcher::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for (std::jthread& worker : workers_) worker.request_stop();
  workers_.clear();
}

LoaderStats Prefetcher::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

std::size_t Prefetcher::capacity() const noexcept {
  const std::size_t affordable = budget_bytes_ / std::max<std::size_t>(1, gatherer_.block_bytes(next_.micro));
  return std::clamp<std::size_t>(affordable, 1, kMostAhead);
}

void Prefetcher::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (room_.wait(lock, stop, [this] { return ahead_.size() < capacity(); }) && !stop.stop_requested()) {
    const auto slot = begin_next();
    lock.unlock();
    fill(*slot);
    lock.lock();
    slot->done = true;
    done_.notify_one();
  }
}

std::shared_ptr<Prefetcher::Slot> Prefetcher::begin_next() {
  if (spare_.empty()) spare_.push_back(std::make_shared<Slot>(Slot{.key = next_}));
  const auto slot = ahead_.emplace_back(std::move(spare_.back()));
  spare_.pop_back();
  *slot = {.key = next_};
  next_ = following(gatherer_.sampler(), next_);
  return slot;
}

void Prefetcher::fill(Slot& slot) const noexcept {
  try {
    slot.batch = gatherer_.gather(slot.key);
  } catch (...) {
    slot.error = std::current_exception();  // fetch() throws it, on the thread of the consumer
  }
}

std::shared_ptr<Prefetcher::Slot> Prefetcher::claim(const BatchKey& key) {
  const auto found = std::find_if(ahead_.begin(), ahead_.end(), [&](const auto& slot) { return slot->key == key; });
  if (found == ahead_.end()) return nullptr;
  auto slot = *found;
  ahead_.erase(ahead_.begin(), found + 1);  // what lies before was skipped
  room_.notify_all();
  return slot;
}

void Prefetcher::expect_after(const BatchKey& key) {
  const bool again = key.micro == next_.micro && key.place() < next_.place();
  if (again) return;
  ahead_.clear();
  next_ = following(gatherer_.sampler(), key);
  room_.notify_all();
}

/// What a slot that is done has gathered; the slot can be filled again.
std::shared_ptr<const HostBatch> Prefetcher::empty(const std::shared_ptr<Slot>& slot) {
  const auto batch = std::move(slot->batch);
  const auto error = std::move(slot->error);
  spare_.push_back(slot);
  if (error) std::rethrow_exception(error);
  return batch;
}

std::shared_ptr<const HostBatch> Prefetcher::take(const BatchKey& key) {
  std::unique_lock lock(mutex_);
  if (closed_) throw UsageError("fetch: the loader that made this window has ended or moved to another place in the data");
  const auto slot = claim(key);
  if (slot == nullptr) {
    expect_after(key);
    ++stats_.gathered_on_demand;
    lock.unlock();
    return gatherer_.gather(key);
  }
  ++stats_.gathered_ahead;
  done_.wait(lock, [&] { return slot->done; });
  return empty(slot);
}

std::shared_ptr<const HostBatch> Prefetcher::fetch(const WindowRange& window, std::int64_t micro, std::int64_t micro_index) {
  const auto begin = std::chrono::steady_clock::now();
  auto batch = take({window, micro, micro_index});
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  const std::lock_guard lock(mutex_);
  stats_.wait_seconds += waited.count();
  return batch;
}

}  // namespace ddpkit
