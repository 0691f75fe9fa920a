#include "ddpkit/batch/time_to_target.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/choose_batch.hpp"
#include "ddpkit/batch/noise_scale.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kMoreDevices = 8;  // times those measured; further out the guess about the network decides all

void check(const BatchProfile& profile, const TargetQuestion& question) {
  const CriticalBatch& critical = question.critical;
  if (!(critical.samples > 0 && critical.low >= 0 && critical.low <= critical.samples && critical.samples <= critical.high))
    throw ConfigError(text("the critical batch must be above 0 and within its band, not ", figure(critical.samples), " (",
                           figure(critical.low), " to ", figure(critical.high),
                           "); train with metrics.noise_scale: true to measure it"));
  if (!(question.reference_steps >= 0)) throw ConfigError("the steps to the target cannot be negative");
  if (profile.measured.empty()) throw ConfigError("the profile holds no measured micro-batch; make one with the verb tune");
  const auto positive = [](std::int64_t number) { return number > 0; };
  if (!std::ranges::all_of(question.devices, positive) || !std::ranges::all_of(question.globals, positive))
    throw ConfigError("numbers of devices and global batches start at 1");
}

std::int64_t reference_global(const BatchProfile& profile, const TargetQuestion& question) {
  if (question.reference_global > 0) return question.reference_global;
  return profile.choice ? profile.choice->global : profile.measured.back().micro * profile.world_size;
}

std::vector<std::int64_t> devices_of(const BatchProfile& profile, const TargetQuestion& question) {
  std::set<std::int64_t> devices(question.devices.begin(), question.devices.end());
  if (devices.empty()) {
    for (std::int64_t n = 1; n <= kMoreDevices * profile.world_size; n *= 2) devices.insert(n);
    devices.insert(profile.world_size);
  }
  return {devices.begin(), devices.end()};
}

std::vector<std::int64_t> globals_of(const TargetQuestion& question, std::int64_t reference) {
  std::set<std::int64_t> globals(question.globals.begin(), question.globals.end());
  if (!globals.empty()) return {globals.begin(), globals.end()};
  for (std::int64_t part = 1; part <= 4 && reference % part == 0; part *= 2) globals.insert(reference / part);
  for (std::int64_t times = 2; times <= 8; times *= 2) globals.insert(reference * times);
  return {globals.begin(), globals.end()};
}

/// What a ring sends of each gradient: on one device nothing.
double ring_share(std::int64_t devices) {
  return static_cast<double>(devices - 1) / static_cast<double>(devices);
}

double communication_seconds(const BatchProfile& profile, std::int64_t devices) {
  if (devices == profile.world_size || profile.world_size == 1) return profile.communication_seconds;
  return profile.communication_seconds * ring_share(devices) / ring_share(profile.world_size);
}

TargetRow row_of(const BatchProfile& profile, std::int64_t devices, std::int64_t global) {
  const RatedPlan chosen = choose_batch(profile, global, devices).chosen;
  const double elsewhere = communication_seconds(profile, devices) - profile.communication_seconds;
  return {.devices = devices, .plan = chosen.plan, .step_seconds = chosen.step_seconds + elsewhere};
}

std::optional<TargetRow> possible_row(const BatchProfile& profile, std::int64_t devices, std::int64_t global) {
  if (global % devices != 0) return std::nullopt;
  try {
    return row_of(profile, devices, global);
  } catch (const ConfigError&) {
    return std::nullopt;  // no micro-batch of it fits
  }
}

/// Fills in what follows from the steps; `scale` is the time of the reference in the unit of the answer.
void rate(TargetRow& row, const TargetRow& reference, const CriticalBatch& critical, double scale) {
  const auto from = static_cast<double>(reference.plan.global), to = static_cast<double>(row.plan.global);
  const double step_ratio = row.step_seconds / reference.step_seconds;
  const auto time_at = [&](double batch) { return scale * step_ratio * steps_ratio(batch, from, to); };
  row.relative_steps = steps_ratio(critical.samples, from, to);
  row.time = time_at(critical.samples);
  std::tie(row.time_low, row.time_high) = std::minmax({time_at(critical.low), time_at(critical.high)});
}

std::string assumptions_of(const BatchProfile& profile, const TargetQuestion& question) {
  const CriticalBatch& critical = question.critical;
  const std::string devices = text(profile.world_size, profile.world_size == 1 ? " device" : " devices");
  const std::string network =
      profile.world_size == 1
          ? "Communication was not measured and is left out, so on more devices these are lower bounds."
          : text("Communication (", seconds_figure(profile.communication_seconds), " a step, measured on ", devices, " of ",
                 profile.nodes, profile.nodes == 1 ? " node" : " nodes",
                 ") is taken to follow a ring's share, (N - 1) / N; slower links to further nodes are not in it.");
  return text("An estimate. Steps follow S_min (1 + B_crit / B) with a critical batch of ", figure(critical.samples), " (band ",
              figure(critical.low), " to ", figure(critical.high),
              "), which grows while the loss falls, and a learning rate tuned to each batch. Every device is as fast as the ",
              devices, " measured. ", network);
}

std::string number_of(const TimeToTarget& result, double time) {
  return result.unit == TimeToTarget::Unit::seconds ? seconds_figure(time) : figure(time);
}

std::string row_in_words(const TimeToTarget& result, const TargetRow& row) {
  const std::string device_seconds = result.unit == TimeToTarget::Unit::seconds ? text(figure(row.cost), " device seconds")
                                                                                : text(figure(row.cost), " times its cost");
  return text("global batch ", grouped(row.plan.global), " on ", grouped(row.devices),
              row.devices == 1 ? " device" : " devices", " (", number_of(result, row.time),
              result.unit == TimeToTarget::Unit::seconds ? ", " : " times the reference's time, ", device_seconds, ")");
}

double value_of(const TargetRow& row, TargetQuantity quantity) {
  return quantity == TargetQuantity::time ? row.time : row.cost;
}

Chart::Point point_of(const TargetRow& row, TargetQuantity quantity, TargetAxis axis) {
  const double value = value_of(row, quantity), by_time = value / row.time;
  return {.x = static_cast<double>(axis == TargetAxis::devices ? row.devices : row.plan.global),
          .y = value,
          .low = row.time_low * by_time,
          .high = row.time_high * by_time};
}

std::string label_of(const TimeToTarget& result, TargetQuantity quantity) {
  if (result.unit == TimeToTarget::Unit::seconds)
    return quantity == TargetQuantity::time ? "time to target [s]" : "cost to target [device seconds]";
  return text(quantity == TargetQuantity::time ? "time" : "cost", " to target, reference = 1");
}

}  // namespace

TimeToTarget time_to_target(const BatchProfile& profile, const TargetQuestion& question) {
  check(profile, question);
  const std::int64_t reference = reference_global(profile, question);
  TimeToTarget result{.unit = question.reference_steps > 0 ? TimeToTarget::Unit::seconds : TimeToTarget::Unit::reference,
                      .critical = question.critical,
                      .reference = row_of(profile, profile.world_size, reference),
                      .assumptions = assumptions_of(profile, question)};
  const double seconds = question.reference_steps * result.reference.step_seconds;
  const bool in_seconds = result.unit == TimeToTarget::Unit::seconds;
  const double cost_unit = in_seconds ? 1 : static_cast<double>(profile.world_size);
  const auto complete = [&](TargetRow row) {
    rate(row, result.reference, question.critical, in_seconds ? seconds : 1);
    row.cost = row.time * static_cast<double>(row.devices) / cost_unit;
    return row;
  };
  result.reference = complete(result.reference);
  for (const std::int64_t devices : devices_of(profile, question))
    for (const std::int64_t global : globals_of(question, reference))
      if (const auto row = possible_row(profile, devices, global)) result.rows.push_back(complete(*row));
  if (result.rows.empty())
    throw ConfigError(
        "none of the global batches can be shared equally by any of the numbers of devices within memory; name batches that "
        "are multiples of them");
  result.explanation =
      text("fastest: ", row_in_words(result, fastest(result)), "; cheapest: ", row_in_words(result, cheapest(result)));
  return result;
}

const TargetRow& fastest(const TimeToTarget& result) {
  return *std::ranges::min_element(result.rows, {}, &TargetRow::time);
}

const TargetRow& cheapest(const TimeToTarget& result) {
  return *std::ranges::min_element(result.rows, {}, &TargetRow::cost);
}

TextTable target_table(const TimeToTarget& result) {
  TextTable table({{"devices"}, {"global"}, {"micro"}, {"accumulate"}, {"step"}, {"steps"}, {"time"}, {"band"}, {"cost"}});
  for (const TargetRow& row : result.rows)
    table.add({grouped(row.devices), grouped(row.plan.global), grouped(row.plan.micro), grouped(row.plan.accumulate),
               seconds_figure(row.step_seconds), figure(row.relative_steps), number_of(result, row.time),
               text(number_of(result, row.time_low), " to ", number_of(result, row.time_high)), number_of(result, row.cost)});
  return table;
}

Chart target_chart(const TimeToTarget& result, TargetQuantity quantity, TargetAxis axis) {
  const bool by_devices = axis == TargetAxis::devices;
  const std::string across = by_devices ? "devices" : "global batch";
  Chart chart{.title = text(quantity == TargetQuantity::time ? "Time" : "Cost", " to target against ", across, " (estimate)"),
              .x = {.label = across, .scale = Chart::Scale::log2},
              .y = {.label = label_of(result, quantity), .scale = Chart::Scale::log10}};
  std::map<std::int64_t, Chart::Series> lines;
  for (const TargetRow& row : result.rows) {
    const std::int64_t key = by_devices ? row.plan.global : row.devices;
    Chart::Series& line = lines[key];
    line.name = by_devices ? text("global ", grouped(key)) : text(grouped(key), key == 1 ? " device" : " devices");
    line.mark = Chart::Mark::line;
    line.points.push_back(point_of(row, quantity, axis));
  }
  for (auto& [key, line] : lines) chart.series.push_back(std::move(line));
  const auto [least, most] = std::ranges::minmax(
      result.rows | std::views::transform([](const TargetRow& row) { return static_cast<double>(row.plan.global); }));
  if (!by_devices && least <= result.critical.samples && result.critical.samples <= most)
    chart.guides.push_back(
        {Chart::Guide::Across::x, result.critical.samples, text("critical batch ", figure(result.critical.samples))});
  return chart;
}

}  // namespace ddpkit
