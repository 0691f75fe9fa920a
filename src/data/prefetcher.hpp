#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "data/batch_gatherer.hpp"
#include "data/batch_key.hpp"
#include "ddpkit/data/loader_stats.hpp"
#include "ddpkit/data/window.hpp"

namespace ddpkit {

/// Gathers the micro-batches that come next on its own threads, until `budget_bytes` of them wait. `fetch` is called from one
/// thread, the consumer's. What the consumer asks for tells what comes next: after a micro-batch of another cut, or further on,
/// than expected, all that waits is dropped and gathering goes on from there; one that was given out before is gathered again
/// at once and changes nothing.
class Prefetcher final : public Window::Source {
 public:
  struct Options {
    std::int64_t budget_bytes = 0;  ///< one micro-batch is gathered ahead even when it is larger
    std::int64_t workers = 1;       ///< 0: everything is gathered on the calling thread, when it is asked for
  };

  Prefetcher(BatchGatherer gatherer, const BatchKey& first, const Options& options);
  ~Prefetcher() override;
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  std::shared_ptr<const HostBatch> fetch(const WindowRange& window, std::int64_t micro, std::int64_t micro_index) override;

  /// Ends the threads, waiting for the gathers in progress. A later fetch throws UsageError. To be called once at most.
  void close() noexcept;

  LoaderStats stats() const;

 private:
  struct Slot {
    BatchKey key;
    bool done = false;
    std::shared_ptr<const HostBatch> batch{};
    std::exception_ptr error{};
  };

  void work(const std::stop_token& stop);
  void fill(Slot& slot) const noexcept;
  std::size_t capacity() const noexcept;
  std::shared_ptr<Slot> begin_next();
  std::shared_ptr<Slot> claim(const BatchKey& key);
  void expect_after(const BatchKey& key);
  std::shared_ptr<const HostBatch> take(const BatchKey& key);
  std::shared_ptr<const HostBatch> empty(const std::shared_ptr<Slot>& slot);

  const BatchGatherer gatherer_;
  const std::size_t budget_bytes_;

  mutable std::mutex mutex_;
  std::condition_variable_any room_;          // a worker may begin a slot
  std::condition_variable done_;              // a slot is done
  std::vector<std::shared_ptr<Slot>> ahead_;  // in order of use
  std::vector<std::shared_ptr<Slot>> spare_;  // used before, to be used again
  BatchKey next_;                             // what a worker gathers next
  LoaderStats stats_;
  bool closed_ = false;
  std::vector<std::jthread> workers_;
};

}  // namespace ddpkit
