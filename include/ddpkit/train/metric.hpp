#pragma once

#include <functional>
#include <string>

#include "ddpkit/tensor/batch.hpp"
#include "ddpkit/tensor/loss.hpp"

namespace ddpkit {

/// A part of a mean: summed over micro-batches and ranks, then divided once.
struct Ratio {
  double numerator = 0;
  double denominator = 0;
};

/// A metric of one micro-batch, from the batch and what the loss function returned for it.
using MetricFunction = std::function<Ratio(const Batch&, const Loss&)>;

/// Share of rows whose largest output stands at the target's class. Needs Loss::output of shape [rows, classes] and integer
/// targets of shape [rows]; throws UsageError, saying so, without.
Ratio accuracy(const Batch& batch, const Loss& loss);

}  // namespace ddpkit
