#include "ddpkit/batch/timed_buckets.hpp"

#include <numeric>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

/// Gradients of these sizes, the first ready after 1 s, the next after 2 s.
std::vector<GradientTiming> of_sizes(std::initializer_list<std::int64_t> sizes) {
  std::vector<GradientTiming> gradients;
  for (const std::int64_t bytes : sizes) gradients.push_back({"g", bytes, 1.0 + static_cast<double>(gradients.size())});
  return gradients;
}

std::vector<std::int64_t> sizes_of(const std::vector<TimedBucket>& buckets) {
  std::vector<std::int64_t> sizes;
  for (const TimedBucket& bucket : buckets) sizes.push_back(bucket.bytes);
  return sizes;
}

}  // namespace

TEST_CASE("a timed bucket closes when the next gradient would pass its limit") {
  const auto buckets = cut_into_buckets(of_sizes({4, 4, 4, 1}), {.bucket_bytes = 8, .tail_bytes = 1});
  CHECK(sizes_of(buckets) == std::vector<std::int64_t>{8, 4, 1});
}

TEST_CASE("a timed bucket is ready with its last gradient") {
  const auto buckets = cut_into_buckets(of_sizes({4, 4, 1}), {.bucket_bytes = 8, .tail_bytes = 1});
  CHECK(buckets.at(0).ready_seconds == 2);
  CHECK(buckets.at(1).ready_seconds == 3);
}

TEST_CASE("a gradient above the limit has a timed bucket to itself") {
  const auto buckets = cut_into_buckets(of_sizes({1, 100, 1, 1}), {.bucket_bytes = 8, .tail_bytes = 1});
  CHECK(sizes_of(buckets) == std::vector<std::int64_t>{1, 100, 1, 1});
}

TEST_CASE("the last timed bucket takes what fits the tail, and at least one gradient") {
  CHECK(sizes_of(cut_into_buckets(of_sizes({9, 1, 1, 1}), {.bucket_bytes = 99, .tail_bytes = 2})) ==
        std::vector<std::int64_t>{10, 2});
  CHECK(sizes_of(cut_into_buckets(of_sizes({1, 9}), {.bucket_bytes = 99, .tail_bytes = 2})) == std::vector<std::int64_t>{1, 9});
  CHECK(sizes_of(cut_into_buckets(of_sizes({1, 1}), {.bucket_bytes = 99, .tail_bytes = 99})) == std::vector<std::int64_t>{2});
}

TEST_CASE("timed buckets hold every byte once") {
  const auto gradients = of_sizes({3, 5, 8, 13, 21, 34, 55, 89});
  for (std::int64_t limit = 1; limit < 300; limit += 7) {
    const auto sizes = sizes_of(cut_into_buckets(gradients, {.bucket_bytes = limit, .tail_bytes = limit / 3}));
    CHECK(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == 228);
  }
}

TEST_CASE("timed buckets that are cut by arrival hold every byte once and are ready with their last gradient") {
  const auto gradients = of_sizes({3, 5, 8, 13, 21});
  const auto whole = cut_by_arrival(gradients, {.cost = {.start_seconds = 100}, .bucket_bytes = 1000});
  CHECK(sizes_of(whole) == std::vector<std::int64_t>{50});
  CHECK(whole.front().ready_seconds == 5);
  const auto single = cut_by_arrival(gradients, {.cost = {.seconds_per_byte = 1}, .bucket_bytes = 1});
  CHECK(sizes_of(single) == std::vector<std::int64_t>{3, 5, 8, 13, 21});
}
