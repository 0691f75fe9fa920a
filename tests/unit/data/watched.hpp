#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/data/dataset.hpp"
#include "ddpkit/data/loader.hpp"
#include "numbered.hpp"
#include "support/catch.hpp"

inline constexpr std::int64_t kWorkers[] = {0, 1, 3};  ///< numbers of them that every loader should work with

/// Passes everything on and notes what is asked of it; a sample can be made to fail.
class Watched final : public ddpkit::Dataset {
 public:
  explicit Watched(std::int64_t size) : samples_(numbered(size)) {}

  std::int64_t size() const override { return samples_.size(); }
  std::span<const ddpkit::FieldSpec> fields() const override { return samples_.fields(); }
  void gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const override {
    if (std::this_thread::get_id() == consumer_) ++gathers_of_consumer;
    if (std::find(ids.begin(), ids.end(), broken.load()) != ids.end()) throw ddpkit::DataError("sample is broken");
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
  ddpkit::InMemoryDataset samples_;
  std::thread::id consumer_ = std::this_thread::get_id();
};

inline std::vector<std::int64_t> ids_of(const ddpkit::Window& window) {
  std::vector<std::int64_t> ids;
  for (std::int64_t index = 0; index < window.micro_batches(); ++index) {
    const auto held = window.fetch(index);
    const ddpkit::HostBatch& batch = *held;
    REQUIRE(rows_match_ids(batch));
    REQUIRE(batch.epoch == window.range().epoch);
    REQUIRE(batch.window == window.range().index);
    REQUIRE(batch.micro_index == index);
    ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  }
  return ids;
}

inline std::vector<std::int64_t> ids_of(const ddpkit::Order& order, const ddpkit::WindowRange& range) {
  std::vector<std::int64_t> ids;
  for (std::int64_t position = range.begin; position < range.end; ++position) ids.push_back(order.at(range.epoch, position));
  return ids;
}

inline std::vector<std::int64_t> ids_of_windows(ddpkit::Loader& loader, int windows) {
  std::vector<std::int64_t> ids;
  for (int i = 0; i < windows; ++i) {
    const auto more = ids_of(loader.next_window());
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return ids;
}
