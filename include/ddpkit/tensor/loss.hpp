#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace ddpkit {

/// What the user's loss function returns for one micro-batch. Made implicitly from a tensor.
struct Loss {
  at::Tensor mean;  ///< scalar: the mean over `count` items
  std::optional<double>
      count;  ///< what the mean was taken over, such as tokens; left out: the rows of the batch. 0: the batch adds nothing
  at::Tensor output;  ///< the model's output, for metrics; may stay undefined

  Loss(at::Tensor mean_, std::optional<double> count_ = std::nullopt, at::Tensor output_ = {})
      : mean(std::move(mean_)), count(count_), output(std::move(output_)) {}
};

}  // namespace ddpkit
