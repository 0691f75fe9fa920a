#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "ddpkit/base/random.hpp"
#include "ddpkit/batch/sweep.hpp"

namespace ddpkit::testing {

/// A device whose truth is known: time and peak memory as functions of the micro-batch, and noise on each timed window.
struct SyntheticMachine {
  std::function<double(double)> seconds;
  std::function<double(double)> bytes = [](double) { return 0.0; };
  double noise = 0;   ///< relative standard deviation of one window
  double memory = 0;  ///< bytes at which it is out of memory; 0: never
  std::int64_t repeats = 9;

  bool runs(std::int64_t micro) const { return memory == 0 || bytes(static_cast<double>(micro)) <= memory; }

  /// Mean and interval of the repeats, as a real measurement would report them.
  MicroMeasurement measure(std::int64_t micro, CounterRandom& random) const {
    const double truth = seconds(static_cast<double>(micro)), count = static_cast<double>(repeats);
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < repeats; ++i) {
      const double window = truth * (1 + noise * normal(random));
      sum += window;
      squares += window * window;
    }
    const double mean = sum / count, variance = std::max(squares / count - mean * mean, 0.0) * count / (count - 1);
    constexpr double kStudent95 = 2.31;  // of 9 repeats
    return {.micro = micro,
            .seconds = mean,
            .half_width = kStudent95 * std::sqrt(variance / count),
            .repeats = repeats,
            .peak_bytes = std::llround(bytes(static_cast<double>(micro)))};
  }

  /// Roughly normal with variance 1: the sum of twelve uniform numbers.
  static double normal(CounterRandom& random) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.uniform();
    return sum;
  }
};

/// Runs a sweep to its end; returns the number of sizes tried.
inline int run(Sweep& sweep, const SyntheticMachine& machine, std::uint64_t seed) {
  CounterRandom random(random_key({seed}));
  int tried = 0;
  for (; const auto micro = sweep.next(); ++tried) {
    if (tried == 1000) break;
    if (machine.runs(*micro))
      sweep.observe(machine.measure(*micro, random));
    else
      sweep.observe_out_of_memory(*micro);
  }
  return tried;
}

}  // namespace ddpkit::testing
