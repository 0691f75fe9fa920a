#pragma once

#include <string>
#include <vector>

#include "ddpkit/observe/chart.hpp"

// How numbers become places along an axis. Pure functions.

namespace ddpkit {

struct Tick {
  double at = 0;
  std::string label;
  friend bool operator==(const Tick&, const Tick&) = default;
};

/// Lowest and highest value that an axis shows; low < high.
struct Domain {
  double low = 0;
  double high = 1;
  friend bool operator==(const Domain&, const Domain&) = default;
};

/// Whether a value has a place on such an axis: finite, and positive on a logarithmic one.
bool has_place(double value, Chart::Scale scale);

/// The domain for values that all have a place; there may be none. The axis' own limits win where they make sense. A linear one
/// begins at 0 where that is near and ends on ticks; a logarithmic one spans at least a factor of 4.
Domain domain_of(const std::vector<double>& values, const Chart::Axis& axis, int most_ticks);

/// At most about `most_ticks` round values inside the domain, rising: multiples of 1, 2 or 5 times a power of ten; on log2 axes
/// powers of two, on log10 axes powers of ten with their double and fivefold where there is room.
std::vector<Tick> ticks_of(const Domain& domain, Chart::Scale scale, int most_ticks);

/// Where the value lies between the ends of the domain: 0 at its low end, 1 at its high end, beyond for values outside.
double place_in(const Domain& domain, Chart::Scale scale, double value);

/// The round distance, 1, 2 or 5 times a power of ten, that cuts `span` into at most `most_steps` pieces.
double round_distance(double span, int most_steps);

/// 12,000 of a 2,000 axis; 0.25 of a 0.05 axis; 3e+09 of a 1e+09 axis: as many decimals as the distance between ticks needs.
std::string tick_label(double value, double distance);

}  // namespace ddpkit
