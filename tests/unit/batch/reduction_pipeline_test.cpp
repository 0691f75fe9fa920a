#include "ddpkit/batch/reduction_pipeline.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

using Buckets = std::vector<PipelineBucket>;

Buckets random_buckets(std::mt19937& random) {
  std::uniform_real_distribution<double> seconds(0, 1);
  Buckets buckets(1 + random() % 12);
  for (PipelineBucket& bucket : buckets) bucket = {10 * seconds(random), 2 * seconds(random)};
  return buckets;
}

/// The same in small strides of time: a link and a device side by side.
PipelineEnd by_strides(const ReductionPipeline& pipeline, double stride) {
  double computed = 0, compute_end = 0, reduction_end = 0, travelled = 0;
  std::size_t next = 0;
  for (double now = 0; next < pipeline.buckets.size() || computed < pipeline.compute_seconds; now += stride) {
    const bool sending = next < pipeline.buckets.size() && computed >= pipeline.buckets[next].ready_seconds;
    if (computed < pipeline.compute_seconds) {
      computed += sending ? stride / (1 + pipeline.interference) : stride;
      compute_end = now + stride;
    }
    if (!sending) continue;
    travelled += stride;
    if (travelled < pipeline.buckets[next].cost_seconds) continue;
    travelled = 0;
    reduction_end = now + stride;
    ++next;
  }
  return {compute_end, reduction_end};
}

}  // namespace

TEST_CASE("a pipeline without buckets ends with backward") {
  const PipelineEnd end = run_pipeline({.buckets = {}, .compute_seconds = 3});
  CHECK(end.compute_seconds == 3);
  CHECK(end.reduction_seconds == 0);
  CHECK(end.seconds() == 3);
}

TEST_CASE("a bucket starts when it is ready and those before it have arrived") {
  const Buckets buckets{{1, 2}, {2, 2}, {7, 1}};
  CHECK(run_pipeline({.buckets = buckets, .compute_seconds = 7}).reduction_seconds == 8);
  CHECK(run_pipeline({.buckets = std::span(buckets).first(2), .compute_seconds = 7}).reduction_seconds == 5);
}

TEST_CASE("a bucket that is ready early waits for its turn") {
  const Buckets buckets{{5, 1}, {1, 1}};
  CHECK(run_pipeline({.buckets = buckets, .compute_seconds = 5}).seconds() == 7);
}

TEST_CASE("a link without cost leaves backward as it is") {
  const Buckets buckets{{1, 0}, {4, 0}};
  CHECK(run_pipeline({.buckets = buckets, .compute_seconds = 4, .interference = 0.5}).seconds() == 4);
}

TEST_CASE("backward does not end before its last gradient") {
  const Buckets buckets{{5, 1}};
  CHECK(run_pipeline({.buckets = buckets, .compute_seconds = 4}).compute_seconds == 5);
}

TEST_CASE("what travels slows what is computed meanwhile") {
  const Buckets buckets{{2, 3}};
  const PipelineEnd end = run_pipeline({.buckets = buckets, .compute_seconds = 6, .interference = 0.5});
  CHECK(end.compute_seconds == Approx(7));  // 2 alone, 2 in the 3 of the bucket, 2 alone
  CHECK(run_pipeline({.buckets = buckets, .compute_seconds = 3, .interference = 0.5}).compute_seconds == Approx(3.5));
}

TEST_CASE("without interference the pipeline is the recurrence") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Buckets buckets = random_buckets(random);
    double end = 0;
    for (const PipelineBucket& bucket : buckets) end = std::max(end, bucket.ready_seconds) + bucket.cost_seconds;
    CHECK(run_pipeline({.buckets = buckets, .compute_seconds = 10}).reduction_seconds == Approx(end));
  }
}

TEST_CASE("the pipeline is what a link and a device do side by side") {
  std::mt19937 random(2);
  for (int trial = 0; trial < 20; ++trial) {
    const Buckets buckets = random_buckets(random);
    const ReductionPipeline pipeline{.buckets = buckets, .compute_seconds = 10, .interference = 0.1 * (trial % 5)};
    const PipelineEnd expected = by_strides(pipeline, 1e-3), got = run_pipeline(pipeline);
    CHECK(got.compute_seconds == Approx(expected.compute_seconds).margin(0.03));
    CHECK(got.reduction_seconds == Approx(expected.reduction_seconds).margin(0.03));
  }
}
