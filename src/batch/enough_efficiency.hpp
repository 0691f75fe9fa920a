#pragma once

#include <algorithm>

namespace ddpkit {

/// The efficiency from which on a micro-batch is large enough: that of the knee, or nearly the `best` there is.
inline double enough_efficiency(double knee, double best) {
  constexpr double kNearly = 0.99;
  return std::min(knee, kNearly * best);
}

}  // namespace ddpkit
