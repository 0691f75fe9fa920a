#include "train/plan_tuner.hpp"

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/reduce/plan_by_time.hpp"
#include "ddpkit/reduce/time_reductions.hpp"

namespace ddpkit {
namespace {

using Moment = GradReducer::Moment;

constexpr std::int64_t kSettling = 2;  // windows in which memory is touched for the first time

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Of the slowest rank. Collective.
double slowest_median(Communicator& ranks, const std::vector<double>& values) {
  double slowest = median(values);
  ranks.all_reduce(std::span(&slowest, 1), ReduceOp::max, "times of a bucket plan").synchronize();
  return slowest;
}

std::size_t bucket_bytes(const ReducerOptions& options) {
  return static_cast<std::size_t>(options.bucket_mib) << 20;
}

std::size_t bytes_of(const BucketPlan& plan) {
  std::size_t bytes = 0;
  for (const Bucket& bucket : plan.buckets) bytes += bucket.bytes();
  return bytes;
}

/// Rank 0's plan on every rank. Collective.
BucketPlan share(const BucketPlan& plan, const GradReducer& reducer) {
  Communicator& ranks = reducer.channels().control;
  const auto shared = plan_from_text(broadcast_text(ranks, to_text(plan)), reducer.gradient_specs());
  require_equal(ranks, "the bucket plan", std::vector<Fact>{{"buckets", shared ? to_text(*shared) : "none that fits"}});
  return *shared;
}

}  // namespace

std::string PlanTuner::start(const std::optional<std::string>& saved) {
  if (options_.plan == PlanBy::size)
    return saved ? "the checkpoint's buckets were planned by time; comm.plan: size makes others from here on" : "";
  if (options_.overlap == Overlap::off)
    throw on_all_ranks(ConfigError("comm.plan: measured plans what travels while backward runs; set comm.overlap: on"));
  if (reducer_.channels().data.world_size() == 1) return {};
  if (reducer_.delivery() == Delivery::as_is)
    return "comm.plan: measured has nothing to plan: the optimizer reads gradients where the ranks made them, and none is sent";
  const auto plan = saved ? plan_from_text(*saved, reducer_.gradient_specs()) : std::nullopt;
  if (!plan) {
    begin_measuring();
    return saved ? "the checkpoint's buckets do not fit the parameters that are trainable now and are planned anew" : "";
  }
  reducer_.set_plan(*plan);
  decided_ = true;
  return {};
}

void PlanTuner::begin_measuring() {
  const std::size_t largest = std::min(bytes_of(reducer_.plan()), bucket_bytes(options_));
  cost_ = fit_reduction_cost(time_reductions(reducer_.channels(), {.largest_bytes = largest, .clock = clock_}));
  if (options_.bucket_dtype == BucketType::bfloat16) cost_.seconds_per_byte /= 2;  // of what float32 travels as
  reducer_.record_readiness(Readiness::recorded);
  phase_ = Phase::measuring;
}

std::string PlanTuner::observe(const StepResult& result) {
  if (phase_ == Phase::off) return {};
  const bool measuring = phase_ == Phase::measuring;
  if (++windows_ > kSettling) {
    Times& times = measuring ? before_ : after_;
    times.step.push_back(result.compute_seconds + result.reduce_seconds + result.update_seconds);
    times.waiting.push_back(result.reduce_seconds);
    if (measuring) remember_readiness();
  }
  if (windows_ < options_.plan_windows + kSettling) return {};
  windows_ = 0;
  if (measuring) return decide();
  phase_ = Phase::off;
  return gain();
}

std::optional<std::string> PlanTuner::chosen() const {
  return decided_ ? std::optional(to_text(reducer_.plan())) : std::nullopt;
}

void PlanTuner::remember_readiness() {
  const std::vector<Moment> moments = reducer_.ready_moments();
  Moment first = Moment::max();
  for (const Moment& moment : moments)
    if (moment != Moment()) first = std::min(first, moment);
  if (ready_.size() != moments.size()) ready_.assign(moments.size(), {});  // others are trainable now
  for (std::size_t i = 0; i < moments.size(); ++i)
    if (moments[i] != Moment()) ready_[i].push_back(std::chrono::duration<double>(moments[i] - first).count());
}

std::vector<std::optional<double>> PlanTuner::ready_seconds() const {
  std::vector<std::optional<double>> seconds;
  for (const auto& values : ready_) seconds.push_back(values.empty() ? std::nullopt : std::optional(median(values)));
  return seconds;
}

std::string PlanTuner::decide() {
  reducer_.record_readiness(Readiness::ignored);
  decided_ = true;
  const BucketPlan present = reducer_.plan();
  const std::vector<GradientSpec> gradients = reducer_.gradient_specs();
  const std::vector<std::optional<double>> ready = ready_seconds();
  const MeasuredGradients measured{gradients, ready, {cost_, bucket_bytes(options_)}};
  const BucketPlan plan = share(plan_buckets_by_time(measured, present), reducer_);
  phase_ = plan == present ? Phase::off : Phase::comparing;
  if (plan == present)
    return text("bucket plan from measurement: the one by size is as good as any after ", options_.plan_windows, " windows");
  buckets_before_ = present.buckets.size();
  expected_seconds_ = predicted_end(present, measured) - predicted_end(plan, measured);
  reducer_.set_plan(plan);
  return {};
}

/// Collective.
std::string PlanTuner::gain() const {
  Communicator& ranks = reducer_.channels().control;
  const auto both = [&](const std::vector<double>& after, const std::vector<double>& before) {
    const double now = slowest_median(ranks, after), then = slowest_median(ranks, before);
    return text(seconds_figure(now), " instead of ", seconds_figure(then));
  };
  const std::string step = both(after_.step, before_.step), waiting = both(after_.waiting, before_.waiting);
  return text("bucket plan from measurement: ", reducer_.plan().buckets.size(), " buckets instead of ", buckets_before_,
              "; a step takes ", step, ", waiting for gradients after backward ", waiting, " (medians of ",
              options_.plan_windows, " windows, the slowest rank; the model expected ", seconds_figure(expected_seconds_),
              " less)");
}

}  // namespace ddpkit
