#include "ddpkit/reduce/bucket_plan.hpp"

#include <set>

#include "support/catch.hpp"

// Not `using namespace ddpkit`: in a unity build headers of LibTorch follow, and would find two types called Device.
namespace ddpkit {
namespace {

std::vector<GradientSpec> floats(std::initializer_list<std::int64_t> sizes) {
  std::vector<GradientSpec> specs;
  for (const std::int64_t size : sizes) specs.push_back({"p" + std::to_string(specs.size()), size, DType::float32});
  return specs;
}

std::vector<std::vector<std::size_t>> parameters_of(const BucketPlan& plan) {
  std::vector<std::vector<std::size_t>> result;
  for (const Bucket& bucket : plan.buckets) {
    result.emplace_back();
    for (const BucketSlot& slot : bucket.slots) result.back().push_back(slot.parameter);
  }
  return result;
}

using Lists = std::vector<std::vector<std::size_t>>;

}  // namespace

TEST_CASE("buckets take gradients in reverse order of the parameters") {
  const BucketPlan plan = plan_buckets(floats({16, 16, 16}), {.bucket_bytes = 1 << 20, .tail_bytes = 1 << 20});
  CHECK(parameters_of(plan) == Lists{{2, 1, 0}});
  CHECK(plan.buckets[0].elements == 48);
}

TEST_CASE("a bucket closes before it would pass its limit") {
  const BucketPlan plan = plan_buckets(floats({16, 16, 16, 16}), {.bucket_bytes = 128, .tail_bytes = 128});
  CHECK(parameters_of(plan) == Lists{{3, 2}, {1, 0}});
}

TEST_CASE("a gradient larger than the limit has a bucket to itself") {
  const BucketPlan plan = plan_buckets(floats({16, 1000, 16}), {.bucket_bytes = 128, .tail_bytes = 128});
  CHECK(parameters_of(plan) == Lists{{2}, {1}, {0}});
}

TEST_CASE("the bucket that is ready last is small") {
  const BucketPlan plan = plan_buckets(floats({16, 16, 16, 16}), {.bucket_bytes = 1 << 20, .tail_bytes = 64});
  CHECK(parameters_of(plan) == Lists{{3, 2, 1}, {0}});
}

TEST_CASE("a first parameter larger than the tail still makes a tail of one") {
  const BucketPlan plan = plan_buckets(floats({500, 16, 16}), {.bucket_bytes = 1 << 20, .tail_bytes = 64});
  CHECK(parameters_of(plan) == Lists{{2, 1}, {0}});
}

TEST_CASE("types never share a bucket, and buckets go out in the order in which they can be full") {
  std::vector<GradientSpec> specs = floats({16, 16, 16, 16});
  specs[1].dtype = specs[3].dtype = DType::bfloat16;
  const BucketPlan plan = plan_buckets(specs, {.bucket_bytes = 1 << 20, .tail_bytes = 1 << 20});
  CHECK(parameters_of(plan) == Lists{{3, 1}, {2, 0}});
  CHECK(plan.buckets[0].dtype == DType::bfloat16);
}

TEST_CASE("slots begin at multiples of 64 bytes and do not overlap") {
  const std::vector<GradientSpec> specs = floats({3, 17, 1, 64, 5});
  const BucketPlan plan = plan_buckets(specs, {});
  for (const Bucket& bucket : plan.buckets) {
    std::int64_t end = 0;
    for (const BucketSlot& slot : bucket.slots) {
      CHECK(slot.offset % 16 == 0);
      CHECK(slot.offset >= end);
      end = slot.offset + specs[slot.parameter].elements;
    }
    CHECK(end <= bucket.elements);
  }
}

TEST_CASE("every gradient is in exactly one bucket, scalars and empty ones too") {
  const std::vector<GradientSpec> specs = floats({1, 0, 33, 7, 4096, 2, 0});
  for (const std::size_t limit : {64, 100, 1000, 100000}) {
    std::multiset<std::size_t> seen;
    for (const auto& list : parameters_of(plan_buckets(specs, {.bucket_bytes = limit, .tail_bytes = limit / 2})))
      seen.insert(list.begin(), list.end());
    CHECK(seen == std::multiset<std::size_t>{0, 1, 2, 3, 4, 5, 6});
  }
}

TEST_CASE("no gradients, no buckets") {
  CHECK(plan_buckets({}, {}).buckets.empty());
}

}  // namespace ddpkit
