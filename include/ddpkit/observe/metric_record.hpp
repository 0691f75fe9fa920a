#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddpkit {

/// What a record tells of.
enum class RecordKind {
  train,  ///< steps since the record before
  valid,  ///< one evaluation
  event,  ///< something that happened once: `text` says what
};

constexpr std::string_view name_of(RecordKind kind) {
  switch (kind) {
    case RecordKind::train: return "train";
    case RecordKind::valid: return "valid";
    case RecordKind::event: return "event";
  }
  return "?";
}

/// Who wants to see a number.
enum class Shown {
  always,
  in_files,  ///< for whoever looks closer: not on the console
};

/// A number with a name, such as "loss". The number may be infinite or NaN.
struct Metric {
  std::string name;
  double value = 0;
  Shown shown = Shown::always;
};

/// What every sink is told, the same for all. The numbers are already reduced over the ranks.
struct MetricRecord {
  RecordKind kind = RecordKind::train;
  std::int64_t step = 0;     ///< optimizer steps finished
  double epoch = 0;          ///< epochs finished, parts included
  std::int64_t samples = 0;  ///< samples trained on since the start of the run, over all ranks
  std::chrono::system_clock::time_point time;
  std::vector<Metric> values;
  std::string text;
  Shown shown = Shown::always;  ///< an event that the log tells in other words is in files alone
};

}  // namespace ddpkit
