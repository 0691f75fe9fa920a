#pragma once

#include <cstdint>

#include "ddpkit/base/quantity.hpp"

namespace ddpkit {

/// A place between two windows of a run. Equal on all ranks and for every world size.
struct RunPoint {
  std::int64_t step = 0;      ///< windows finished
  std::int64_t epoch = 0;     ///< epochs finished
  std::int64_t position = 0;  ///< samples of the present epoch's order already consumed

  friend bool operator==(const RunPoint&, const RunPoint&) = default;
};

/// What a run has been told about its length, and how much an epoch is.
struct RunBounds {
  std::int64_t epochs = 0;
  std::int64_t steps = 0;    ///< 0: the epochs decide
  std::int64_t samples = 0;  ///< in an epoch

  bool over(const RunPoint& point) const noexcept { return steps > 0 ? point.step >= steps : point.epoch >= epochs; }
};

// A stretch is measured on its own clock, whatever sizes the windows have on the way: steps count windows, epochs and parts of
// them count samples, and a percentage counts what the run was given in. All pure.

/// How many times `every` fits into the run up to `point`; 0 when `every` is 0.
std::int64_t laps(const Extent& every, const RunPoint& point, const RunBounds& run);

/// Whether `point` lies `stretch` or more after `from`.
bool has_passed(const Extent& stretch, const RunPoint& from, const RunPoint& point, const RunBounds& run);

/// Windows of `global` samples from `point` to the first place that lies `stretch` or more after the start of the run.
std::int64_t windows_until(const Extent& stretch, const RunPoint& point, std::int64_t global, const RunBounds& run);

}  // namespace ddpkit
