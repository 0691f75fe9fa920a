#pragma once

#include <string>

#include <torch/nn/modules/container/sequential.h>

#include "ddpkit/step/stepper.hpp"
#include "place.hpp"

namespace bench {

/// A perceptron of equal layers.
struct Shape {
  std::string name;
  std::int64_t width = 0;
  std::int64_t layers = 0;
  std::int64_t rows = 0;
};

Shape launch_bound(const Place& place);  ///< small kernels: the host is the bottleneck
Shape large(const Place& place);         ///< large matrices: the device is

/// A model, a batch and a loss, the same bits for equal shapes.
struct Workload {
  torch::nn::Sequential model;
  ddpkit::Batch batch;

  Workload(const Shape& shape, const Place& place);
  ddpkit::LossFunction loss() const;
  std::vector<ddpkit::NamedTensor> parameters() const;
};

}  // namespace bench
