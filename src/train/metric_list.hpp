#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ddpkit/observe/tally.hpp"
#include "ddpkit/train/metric.hpp"

namespace ddpkit {

using MetricList = std::vector<std::pair<std::string, MetricFunction>>;

/// Names every metric, so that ranks without a single row hold the same ones.
inline void open_tally(Tally& tally, const MetricList& metrics) {
  tally.add("loss", 0, 0);
  for (const auto& [name, metric] : metrics) tally.add(name, 0, 0);
}

/// One micro-batch's loss and metrics.
inline void add_to_tally(Tally& tally, const Batch& batch, const Loss& loss, const MetricList& metrics) {
  const double count = loss.count.value_or(static_cast<double>(batch.rows()));
  if (count > 0) tally.add("loss", loss.mean.item<double>() * count, count);
  for (const auto& [name, metric] : metrics) {
    const Ratio part = metric(batch, loss);
    tally.add(name, part.numerator, part.denominator);
  }
}

}  // namespace ddpkit
