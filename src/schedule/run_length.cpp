#include "ddpkit/schedule/run_length.hpp"

#include <cmath>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

// 5 % of 100 is 5.000000000000001 in binary and must not become 6.
std::int64_t rounded_up(double steps) {
  return static_cast<std::int64_t>(std::ceil(steps - 1e-9 * std::max(1.0, steps)));
}

std::int64_t whole_steps(double amount, std::string_view field) {
  if (amount != std::floor(amount)) throw ConfigError(text(field, ": ", amount, " steps; expected a whole number of steps"));
  return static_cast<std::int64_t>(amount);
}

std::int64_t steps_of_epochs(double epochs, const RunLength& run, std::string_view field) {
  if (run.steps_per_epoch < 1)
    throw ConfigError(text(field, ": ", epochs, " epochs, but the length of an epoch is not known; give steps instead"));
  return rounded_up(epochs * static_cast<double>(run.steps_per_epoch));
}

std::int64_t steps_of_percent(double percent, const RunLength& run, std::string_view field) {
  if (percent > 100) throw ConfigError(text(field, ": ", percent, " % of the run; expected at most 100 %"));
  return rounded_up(percent * static_cast<double>(run.steps) / 100);
}

}  // namespace

std::int64_t steps_in(const Extent& extent, const RunLength& run, std::string_view field) {
  constexpr double kMost = 1e15;
  if (!(extent.amount >= 0 && extent.amount <= kMost))
    throw ConfigError(text(field, ": got ", extent.amount, "; expected 0 or more steps, epochs or per cent"));
  switch (extent.unit) {
    case Extent::Unit::steps: return whole_steps(extent.amount, field);
    case Extent::Unit::epochs: return steps_of_epochs(extent.amount, run, field);
    case Extent::Unit::percent: return steps_of_percent(extent.amount, run, field);
  }
  return 0;
}

}  // namespace ddpkit
