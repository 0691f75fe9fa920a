#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/observe/metric_record.hpp"

// How progress reads. Pure functions, the same in every locale.

namespace ddpkit {

/// What a display shows of a run.
struct ProgressView {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;  ///< 0: not known
  double epoch = 0;
  std::optional<double> samples_per_second;
  std::optional<std::chrono::duration<double>> time_left;
  std::vector<Metric> values;
};

/// Four significant digits: "0.4312", "1.2e-05", "nan".
std::string format_metric(double value);

/// "0:09", "12:34", "1:02:03", "3d 04:05:06".
std::string format_duration(std::chrono::duration<double> time);

/// "812 samples/s", "51.2k samples/s", "1.28M samples/s".
std::string format_rate(double samples_per_second);

/// "step 120/590 (20%)  epoch 0.41  loss 0.4321  lr 0.08  51.2k samples/s  0:09 left": all values, of any length.
std::string progress_line(const ProgressView& view);

/// " 20% [====>      ] 120/590  51.2k samples/s  loss 0.4321  lr 0.08  0:09 left": in at most `columns` characters; on a narrow
/// terminal the bar goes first, then the end of the text.
std::string progress_bar(const ProgressView& view, int columns);

/// The first `columns` characters of UTF-8 text, each taken to be one column wide; never half a character.
std::string first_columns(std::string_view text, int columns);

}  // namespace ddpkit
