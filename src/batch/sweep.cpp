#include "ddpkit/batch/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "batch/enough_efficiency.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/memory_model.hpp"
#include "ddpkit/batch/throughput_model.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLargest = std::int64_t{1} << 40;  // where neither options nor memory end the growth
constexpr double kFlatGain = 1.05;                        // two doublings that gain less are flat
constexpr int kKneeTries = 2;
constexpr int kPredictions = 6;  // then bisection alone
constexpr int kWantedTries = 6;

/// `value` rounded to whole steps, which are multiples of 8 where there is room: kernels like them.
std::int64_t nearest_step(double value, std::int64_t room) {
  const std::int64_t quarter = std::max<std::int64_t>(room / 4, 1);
  const std::int64_t step = quarter >= 8 ? quarter / 8 * 8 : quarter;
  return std::llround(value / static_cast<double>(step)) * step;
}

}  // namespace

Sweep::Sweep(const SweepOptions& options) : options_(options), max_(options.max_micro) {
  if (options.min_micro < 1 || options.max_micro < 0)
    throw ConfigError(text("tune: min_micro ", options.min_micro, " and max_micro ", options.max_micro, " must be positive"));
  max_ = max_ == 0 ? std::max(kLargest, options.min_micro) : std::min(max_, kNone - 1);
  if (options.min_micro > max_)
    throw ConfigError(text("tune.min_micro ", options.min_micro, " exceeds tune.max_micro ", max_, "; lower the first"));
  std::ranges::sort(options_.wanted);
  const auto [tail, end] = std::ranges::unique(options_.wanted);
  options_.wanted.erase(tail, end);
  advance();
}

void Sweep::observe(const MicroMeasurement& measurement) {
  check_asked(measurement.micro);
  measured_.insert(std::ranges::upper_bound(measured_, measurement.micro, {}, &MicroMeasurement::micro), measurement);
  advance();
}

void Sweep::observe_out_of_memory(std::int64_t micro) {
  check_asked(micro);
  out_of_memory_.insert(std::ranges::upper_bound(out_of_memory_, micro), micro);
  advance();
}

std::optional<std::int64_t> Sweep::largest_feasible() const {
  return smallest_failing() == kNone ? std::nullopt : std::optional(largest_fitting());
}

void Sweep::check_asked(std::int64_t micro) const {
  if (micro != next_) throw UsageError(text("a sweep was told of micro-batch ", micro, ", which it did not ask for"));
}

void Sweep::advance() {
  next_ = propose();
  while (!next_ && phase_ != Phase::done) {
    phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
    tries_ = 0;
    next_ = propose();
  }
  ++tries_;
}

std::optional<std::int64_t> Sweep::propose() const {
  switch (phase_) {
    case Phase::grow: return propose_growth();
    case Phase::knee: return propose_knee();
    case Phase::wanted: return propose_wanted();
    case Phase::bound: return propose_bound();
    case Phase::done: break;
  }
  return {};
}

std::optional<std::int64_t> Sweep::propose_growth() const {
  if (tries_ == 0) return options_.min_micro;
  const bool may_grow = smallest_failing() == kNone && largest_fitting() < max_ && !is_flat();
  return may_grow && doubled() <= predicted_largest() ? std::optional(doubled()) : std::nullopt;
}

// At a quarter or halfway between the measured neighbours of the knee, whichever is next to it; then once more.
std::optional<std::int64_t> Sweep::propose_knee() const {
  const auto at = fitting();
  if (at.empty() || tries_ == kKneeTries) return {};
  const double knee = ThroughputModel(at).knee(options_.efficiency).micro;
  const auto right = std::ranges::find_if(at, [&](const auto& m) { return static_cast<double>(m.micro) > knee; });
  if (right == at.begin() || right == at.end()) return {};
  const std::int64_t left = std::prev(right)->micro, size = nearest_step(knee, right->micro - left);
  return size > left && size < right->micro ? std::optional(size) : std::nullopt;
}

// The smallest that is good enough, and its neighbours: what will be chosen is measured, and what it is compared with.
std::optional<std::int64_t> Sweep::propose_wanted() const {
  const auto at = fitting();
  const std::vector<std::int64_t> sizes = wanted_within_bound();
  if (at.empty() || sizes.empty() || tries_ == kWantedTries) return {};
  const ThroughputModel model(at);
  const auto efficiency = [&](std::int64_t size) { return model.efficiency(static_cast<double>(size)); };
  const double best = std::ranges::max(sizes | std::views::transform(efficiency));
  const double enough = enough_efficiency(options_.efficiency, best);
  const auto choice = std::ranges::find_if(sizes, [&](std::int64_t size) { return efficiency(size) >= enough; });
  const auto first = choice == sizes.begin() ? choice : choice - 1, last = std::min(choice + 2, sizes.end());
  if (!is_known(*choice)) return *choice;
  const auto unknown = std::find_if_not(first, last, [&](std::int64_t size) { return is_known(size); });
  return unknown == last ? std::nullopt : std::optional(*unknown);
}

std::vector<std::int64_t> Sweep::wanted_within_bound() const {
  const std::int64_t bound = std::min({std::max(predicted_largest(), largest_fitting()), smallest_failing() - 1, max_});
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : options_.wanted)
    if (size >= options_.min_micro && size <= bound) sizes.push_back(size);
  return sizes;
}

std::optional<std::int64_t> Sweep::propose_bound() const {
  const std::int64_t low = largest_fitting(), high = std::min(smallest_failing(), max_ + 1), predicted = predicted_largest();
  const bool failed = smallest_failing() != kNone, memory_binds = failed || predicted < doubled();
  if (low == 0 || high - low <= 1 || !memory_binds) return {};
  if (tries_ < kPredictions && predicted < high) return std::max(predicted, low + 1);
  return failed ? low + (high - low) / 2 : std::min(low + low / 8 + 1, max_);
}

bool Sweep::fits(const MicroMeasurement& at) const {
  return options_.memory_limit == 0 || static_cast<double>(at.peak_bytes) <= allowed_bytes();
}

double Sweep::allowed_bytes() const {
  return static_cast<double>(options_.memory_limit) * options_.memory_target;
}

std::vector<MicroMeasurement> Sweep::fitting() const {
  const std::int64_t failing = smallest_failing();
  std::vector<MicroMeasurement> found;
  for (const MicroMeasurement& at : measured_)
    if (at.micro < failing) found.push_back(at);
  return found;
}

std::int64_t Sweep::largest_fitting() const {
  const auto at = fitting();
  return at.empty() ? 0 : at.back().micro;
}

std::int64_t Sweep::smallest_failing() const {
  const auto too_large = std::ranges::find_if_not(measured_, [&](const MicroMeasurement& at) { return fits(at); });
  return std::min(too_large == measured_.end() ? kNone : too_large->micro,
                  out_of_memory_.empty() ? kNone : out_of_memory_.front());
}

std::int64_t Sweep::predicted_largest() const {
  return options_.memory_limit == 0 ? kNone : MemoryModel(measured_).largest_within(allowed_bytes());
}

std::int64_t Sweep::doubled() const {
  const std::int64_t last = largest_fitting();
  return last > max_ / 2 ? max_ : 2 * last;
}

bool Sweep::is_known(std::int64_t micro) const {
  return std::ranges::binary_search(measured_, micro, {}, &MicroMeasurement::micro);
}

// Two doublings together, since noise lets one of them gain now and then. A few sizes at the very start may be equally fast for
// reasons of their own.
bool Sweep::is_flat() const {
  constexpr std::size_t kLeast = 4;
  if (measured_.size() < kLeast) return false;
  const auto rate = [&](std::size_t back) { return measured_[measured_.size() - back].samples_per_second(); };
  return rate(1) < kFlatGain * rate(3);
}

}  // namespace ddpkit
