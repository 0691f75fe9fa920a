#include "ddpkit/reduce/plan_by_time.hpp"

#include <algorithm>
#include <random>

#include "support/catch.hpp"

namespace {

using ddpkit::BucketPlan;
using ddpkit::DType;
using ddpkit::GradientSpec;

struct MeasuredModel {
  std::vector<GradientSpec> gradients;
  std::vector<std::optional<double>> ready;
  ddpkit::CutLimits limits;

  ddpkit::MeasuredGradients view() const { return {gradients, ready, limits}; }
  BucketPlan by_size() const { return plan_buckets(gradients, {.bucket_bytes = limits.bucket_bytes, .tail_bytes = 4096}); }
};

/// About in reverse order of the parameters, some out of turn, some never.
MeasuredModel random_model(std::mt19937& random) {
  MeasuredModel model;
  const std::size_t count = 1 + random() % 20;
  for (std::size_t i = 0; i < count; ++i) {
    model.gradients.push_back(
        {"p", static_cast<std::int64_t>(1 + random() % 20000), random() % 5 == 0 ? DType::bfloat16 : DType::float32});
    const double ready = 1e-3 * static_cast<double>(count - i) + 1e-6 * static_cast<double>(random() % 3000);
    model.ready.push_back(random() % 10 == 0 ? std::nullopt : std::optional(ready));
  }
  model.limits.cost = {.start_seconds = 1e-6 * static_cast<double>(random() % 900),
                       .seconds_per_byte = 1e-9 * static_cast<double>(random() % 50)};
  model.limits.bucket_bytes = std::size_t{1} << (14 + random() % 8);
  return model;
}

/// Every gradient once, each in its place.
void check_legal(const BucketPlan& plan, const MeasuredModel& model) {
  std::vector<int> seen(model.gradients.size());
  for (const ddpkit::Bucket& bucket : plan.buckets) {
    std::int64_t next = 0;
    for (const ddpkit::BucketSlot& slot : bucket.slots) {
      ++seen[slot.parameter];
      CHECK(model.gradients[slot.parameter].dtype == bucket.dtype);
      CHECK(slot.offset == next);
      CHECK(slot.offset * static_cast<std::int64_t>(size_of(bucket.dtype)) % 64 == 0);
      next += static_cast<std::int64_t>(slot_bytes(model.gradients[slot.parameter]) / size_of(bucket.dtype));
    }
    CHECK(bucket.elements == next);
  }
  CHECK(std::count(seen.begin(), seen.end(), 1) == std::ssize(seen));
}

}  // namespace

TEST_CASE("a plan by time is a plan, and never worse than the present one by its own model") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const MeasuredModel model = random_model(random);
    const BucketPlan present = model.by_size();
    const BucketPlan plan = plan_buckets_by_time(model.view(), present);
    check_legal(plan, model);
    CHECK(predicted_end(plan, model.view()) <= predicted_end(present, model.view()));
  }
}

TEST_CASE("a plan by time sends gradients in the order in which they became ready") {
  const MeasuredModel model{{{"a", 1000}, {"b", 1000}, {"c", 1000}}, {2.0, 3.0, 1.0}, {{.seconds_per_byte = 1e-4}}};
  const BucketPlan plan = plan_buckets_by_time(model.view(), model.by_size());
  CHECK(to_text(plan) == "2;0;1");
}

TEST_CASE("a gradient that no backward makes goes last, where it holds nothing up") {
  const MeasuredModel model{{{"a", 1000}, {"b", 1000}, {"c", 1000}}, {3.0, {}, 1.0}, {{.seconds_per_byte = 1e-4}}};
  const BucketPlan plan = plan_buckets_by_time(model.view(), model.by_size());
  CHECK(plan.buckets.back().slots.back().parameter == 1);
}

TEST_CASE("the predicted end is that of the pipeline") {
  const MeasuredModel model{{{"a", 16}, {"b", 16}}, {5.0, 1.0}, {{.start_seconds = 3}}};
  const BucketPlan apart{
      {make_bucket(model.gradients, std::vector<std::size_t>{1}), make_bucket(model.gradients, std::vector<std::size_t>{0})}};
  CHECK(predicted_end(apart, model.view()) == Approx(8));  // max(5, 1 + 3) + 3
}

TEST_CASE("a plan comes back from its text") {
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const MeasuredModel model = random_model(random);
    const BucketPlan plan = plan_buckets_by_time(model.view(), model.by_size());
    const auto read = plan_from_text(to_text(plan), model.gradients);
    REQUIRE(read.has_value());
    CHECK(*read == plan);
  }
}

TEST_CASE("a text that is no plan of these gradients gives none") {
  const std::vector<GradientSpec> two{{"a", 10}, {"b", 10, DType::float64}};
  for (const char* text : {"", "0", "0;0", "0;2", "0,1", "0;1;", "0;x", "0; 1", "-1;0"})
    CHECK_FALSE(ddpkit::plan_from_text(text, two).has_value());
  CHECK(ddpkit::plan_from_text("1;0", two).has_value());
  CHECK(ddpkit::plan_from_text("", {}).has_value());
}
