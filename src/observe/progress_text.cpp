#include "ddpkit/observe/progress_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ddpkit/base/printable.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr int kNarrowestBar = 10;
constexpr int kWidestBar = 40;

std::string digits(double value, std::chars_format format, int precision) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format, precision).ptr;
  return {buffer, end};
}

std::string two_digits(std::int64_t value) {
  return text(value < 10 ? "0" : "", value);
}

std::string with_unit(double value, std::string_view unit) {
  return text(digits(value, std::chars_format::general, 3), unit, " samples/s");
}

int percent_done(const ProgressView& view) {
  const double share = static_cast<double>(view.step) / static_cast<double>(view.total_steps);
  return static_cast<int>(std::floor(100 * std::clamp(share, 0.0, 1.0)));
}

std::string count_of_steps(const ProgressView& view) {
  return view.total_steps > 0 ? text(view.step, '/', view.total_steps) : text(view.step);
}

std::string named_value(const Metric& metric) {
  if (metric.shown == Shown::in_files) return {};
  return text("  ", printable(metric.name), ' ', format_metric(metric.value));
}

std::string rate_part(const ProgressView& view) {
  return view.samples_per_second ? "  " + format_rate(*view.samples_per_second) : "";
}

std::string time_part(const ProgressView& view) {
  return view.step < view.total_steps && view.time_left ? text("  ", format_duration(*view.time_left), " left") : "";
}

std::string bar_of(int percent, int columns) {
  const int inner = columns - 2;
  const int filled = inner * percent / 100;
  std::string out = "[" + std::string(static_cast<std::size_t>(filled), '=');
  if (filled < inner) out += '>' + std::string(static_cast<std::size_t>(inner - filled - 1), ' ');
  return out + ']';
}

int columns_of(std::string_view text) {
  int columns = 0;
  for (; !text.empty(); ++columns) text.remove_prefix(std::max<std::size_t>(1, utf8_length(text)));
  return columns;
}

}  // namespace

std::string format_metric(double value) {
  return digits(value, std::chars_format::general, 4);
}

std::string format_duration(std::chrono::duration<double> time) {
  constexpr double kMostSeconds = 1e12;
  const auto all = static_cast<std::int64_t>(std::clamp(std::round(time.count()), 0.0, kMostSeconds));
  const std::int64_t days = all / 86400, hours = all / 3600 % 24, minutes = all / 60 % 60, seconds = all % 60;
  if (days > 0) return text(days, "d ", two_digits(hours), ':', two_digits(minutes), ':', two_digits(seconds));
  if (hours > 0) return text(hours, ':', two_digits(minutes), ':', two_digits(seconds));
  return text(minutes, ':', two_digits(seconds));
}

std::string format_rate(double rate) {
  if (rate < 999.5) return with_unit(rate, "");
  if (rate < 999.5e3) return with_unit(rate / 1e3, "k");
  return with_unit(rate / 1e6, "M");
}

std::string progress_line(const ProgressView& view) {
  std::string out = "step " + count_of_steps(view);
  if (view.total_steps > 0) out += text(" (", percent_done(view), "%)");
  out += "  epoch " + digits(view.epoch, std::chars_format::fixed, 2);
  for (const Metric& metric : view.values) out += named_value(metric);
  return out + rate_part(view) + time_part(view);
}

std::string progress_bar(const ProgressView& view, int columns) {
  std::string after = ' ' + count_of_steps(view) + rate_part(view);
  for (const Metric& metric : view.values)
    if (metric.name == "loss" || metric.name == "lr") after += named_value(metric);
  after += time_part(view);
  if (view.total_steps <= 0) return first_columns(std::string_view(after).substr(1), columns);

  const int percent = percent_done(view);
  std::string before = text(percent < 10 ? "  " : percent < 100 ? " " : "", percent, "%");
  const int room = std::min(columns - columns_of(after) - columns_of(before) - 1, kWidestBar);
  if (room >= kNarrowestBar) before += ' ' + bar_of(percent, room);
  return first_columns(before + after, columns);
}

std::string first_columns(std::string_view text, int columns) {
  std::string_view rest = text;
  for (int column = 0; column < columns && !rest.empty(); ++column)
    rest.remove_prefix(std::max<std::size_t>(1, utf8_length(rest)));
  return std::string(text.substr(0, text.size() - rest.size()));
}

}  // namespace ddpkit
