#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ddpkit/base/text_table.hpp"
#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/batch/batch_profile.hpp"
#include "ddpkit/observe/chart.hpp"

namespace ddpkit {

/// Where more samples in a batch begin to buy little, with its band.
struct CriticalBatch {
  double samples = 0;
  double low = samples;
  double high = samples;  ///< may be infinite
};

struct TargetQuestion {
  CriticalBatch critical{};
  std::vector<std::int64_t> devices{};  ///< empty: doublings from one to a few times those measured
  std::vector<std::int64_t> globals{};  ///< empty: doublings around the reference
  std::int64_t reference_global = 0;    ///< a batch on the measured devices to compare with; 0: the profile's choice
  double reference_steps = 0;           ///< steps that it takes to the target; 0: not known, all is relative to the reference
};

/// One number of devices with one global batch.
struct TargetRow {
  std::int64_t devices = 0;
  BatchPlan plan;
  double step_seconds = 0;
  double relative_steps = 0;  ///< over those of the reference
  double time = 0;            ///< to the target: seconds, or over that of the reference; with the band of the critical batch
  double time_low = 0;
  double time_high = 0;
  double cost = 0;  ///< devices x time: device seconds, or over that of the reference
};

struct TimeToTarget {
  enum class Unit { seconds, reference };
  Unit unit = Unit::reference;
  CriticalBatch critical{};
  TargetRow reference;
  std::vector<TargetRow> rows;  ///< by devices, then by global batch; what cannot be cut equally or does not fit is left out
  std::string explanation;      ///< which row is fastest and which cheapest
  std::string assumptions;      ///< what the estimate rests on, in sentences
};

/// Joins S(B) = S_min (1 + B_crit / B) with the step times of a profile. An estimate, and it says so. On other numbers of
/// devices than measured, communication is taken to follow a ring's share, (N - 1) / N. Pure. Throws ConfigError that says what
/// to change when nothing can be said: no critical batch, no reference, or no row that works.
TimeToTarget time_to_target(const BatchProfile& profile, const TargetQuestion& question);

/// The row with the least time, and that with the least cost.
const TargetRow& fastest(const TimeToTarget& result);
const TargetRow& cheapest(const TimeToTarget& result);

/// Columns: devices, global, micro, accumulate, step, steps, time with band, cost.
TextTable target_table(const TimeToTarget& result);

enum class TargetQuantity { time, cost };
enum class TargetAxis { devices, global };

/// Time or cost against the number of devices, with a line per global batch, or the other way round;
/// the critical batch is marked where it is in the picture.
Chart target_chart(const TimeToTarget& result, TargetQuantity quantity, TargetAxis axis);

/// One JSON document, "ddpkit time to target" version 1. Numbers keep all their digits; what is infinite is null.
std::string to_json(const TimeToTarget& result);

}  // namespace ddpkit
