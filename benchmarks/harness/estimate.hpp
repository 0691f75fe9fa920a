#pragma once

#include <span>
#include <vector>

namespace bench {

/// A figure with its 95 % interval.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// What is made of two medians, such as their ratio.
using Statistic = double (*)(double ours, double theirs);

double ratio(double ours, double theirs);       ///< ours / theirs
double speed_up(double ours, double theirs);    ///< theirs / ours
double difference(double ours, double theirs);  ///< ours - theirs

double median(std::vector<double> values);

/// `statistic` of the medians of two variants that were measured in the same rounds, and the percentile bootstrap interval over
/// rounds (Efron and Tibshirani 1993, chapter 13): a round that was slow for both stays so for both. Pure and deterministic.
Estimate estimate(std::span<const double> ours, std::span<const double> theirs, Statistic statistic);

}  // namespace bench
