#include "observe/chart_scale.hpp"

#include <algorithm>
#include <cmath>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr double kTolerance = 1e-9;  // of a distance: ticks are computed in floating point
constexpr double kLeastRatio = 4;    // of a logarithmic axis, which is hard to read without two powers of two

double logarithm(double value, Chart::Scale scale) {
  return scale == Chart::Scale::log2 ? std::log2(value) : std::log10(value);
}

// A single value, or none, still needs an axis around it.
Domain widened_linear(Domain domain) {
  if (domain.low < domain.high) return domain;
  const double room = domain.low == 0 ? 1 : std::abs(domain.low) / 2;
  return {domain.low - room, domain.high + room};
}

Domain linear_domain(Domain domain, int most_ticks) {
  domain = widened_linear(domain);
  const double span = domain.high - domain.low;
  if (domain.low > 0 && domain.low <= span) domain.low = 0;
  if (domain.high < 0 && -domain.high <= span) domain.high = 0;
  const double distance = round_distance(domain.high - domain.low, most_ticks);
  return {std::floor(domain.low / distance + kTolerance) * distance, std::ceil(domain.high / distance - kTolerance) * distance};
}

Domain log_domain(Domain domain) {
  const double missing = kLeastRatio / (domain.high / domain.low);
  const double room = std::max(1.08, std::sqrt(std::max(1.0, missing)));
  return {domain.low / room, domain.high * room};
}

std::vector<Tick> linear_ticks(const Domain& domain, int most_ticks) {
  const double distance = round_distance(domain.high - domain.low, most_ticks);
  const double first = std::ceil(domain.low / distance - kTolerance), last = std::floor(domain.high / distance + kTolerance);
  std::vector<Tick> ticks;
  for (double i = 0; i <= last - first; ++i)
    ticks.push_back({(first + i) * distance, tick_label((first + i) * distance, distance)});
  return ticks;
}

std::string log_label(double value) {
  return value >= 1 && value < 1e7 && value == std::floor(value) ? grouped(static_cast<std::int64_t>(value)) : figure(value);
}

std::vector<Tick> powers(const Domain& domain, double base, int most_ticks, const std::vector<double>& between) {
  const auto power_of = [base](double value) { return std::log(value) / std::log(base); };
  const double first = std::ceil(power_of(domain.low) - kTolerance), last = std::floor(power_of(domain.high) + kTolerance);
  const double skip = std::max(1.0, std::ceil((last - first + 1) / most_ticks));
  std::vector<Tick> ticks;
  for (double i = std::ceil(first / skip) * skip - skip; i <= last; i += skip)
    for (const double factor : between) {
      const double value = std::pow(base, i) * factor;
      if (value >= domain.low * (1 - kTolerance) && value <= domain.high * (1 + kTolerance))
        ticks.push_back({value, log_label(value)});
    }
  return ticks;
}

std::vector<Tick> log10_ticks(const Domain& domain, int most_ticks) {
  const double decades = std::log10(domain.high / domain.low);
  return 3 * decades <= most_ticks ? powers(domain, 10, most_ticks, {1, 2, 5}) : powers(domain, 10, most_ticks, {1});
}

}  // namespace

bool has_place(double value, Chart::Scale scale) {
  return std::isfinite(value) && (scale == Chart::Scale::linear || value > 0);
}

Domain domain_of(const std::vector<double>& values, const Chart::Axis& axis, int most_ticks) {
  const bool linear = axis.scale == Chart::Scale::linear;
  Domain domain = linear ? Domain{0, 1} : Domain{1, 10};
  if (!values.empty()) domain = {*std::ranges::min_element(values), *std::ranges::max_element(values)};
  domain = linear ? linear_domain(domain, most_ticks) : log_domain(domain);
  Domain wanted = domain;
  if (axis.min && has_place(*axis.min, axis.scale)) wanted.low = *axis.min;
  if (axis.max && has_place(*axis.max, axis.scale)) wanted.high = *axis.max;
  return wanted.low < wanted.high ? wanted : domain;
}

std::vector<Tick> ticks_of(const Domain& domain, Chart::Scale scale, int most_ticks) {
  switch (scale) {
    case Chart::Scale::linear: return linear_ticks(domain, most_ticks);
    case Chart::Scale::log2: return powers(domain, 2, most_ticks, {1});
    case Chart::Scale::log10: return log10_ticks(domain, most_ticks);
  }
  return {};
}

double place_in(const Domain& domain, Chart::Scale scale, double value) {
  if (scale == Chart::Scale::linear) return (value - domain.low) / (domain.high - domain.low);
  return logarithm(value / domain.low, scale) / logarithm(domain.high / domain.low, scale);
}

double round_distance(double span, int most_steps) {
  const double least = span / std::max(1, most_steps);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - kTolerance)) return factor * power;
  return 10 * power;
}

std::string tick_label(double value, double distance) {
  if (std::abs(value) < distance / 2) return "0";
  if (distance >= 1e7 || distance < 1e-4) return figure(value);
  if (distance >= 1) return grouped(std::llround(value));
  const int decimals = static_cast<int>(-std::floor(std::log10(distance) + kTolerance));
  return fixed_figure(value, decimals);
}

}  // namespace ddpkit
