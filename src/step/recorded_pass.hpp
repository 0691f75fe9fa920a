#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ddpkit/reduce/reducer.hpp"
#include "ddpkit/tensor/batch.hpp"
#include "ddpkit/tensor/device_graph.hpp"
#include "ddpkit/tensor/loss.hpp"

namespace ddpkit {

/// Forward and backward of a micro-batch, recorded after some windows and then repeated: the host gives the device one graph
/// instead of every kernel. Gradients leave after it, since the buckets' journey is not part of it.
class RecordedPass {
 public:
  /// Forward and backward of one micro-batch, without waiting for the device.
  using Pass = std::function<Loss(const Batch&)>;

  /// `reducer` must outlive it.
  RecordedPass(Reducer& reducer, std::unique_ptr<DeviceGraph> graph) : reducer_(reducer), graph_(std::move(graph)) {}

  /// Does what `pass` does, by calling it or by repeating what it did. A batch of other shapes or with another factor than the
  /// recorded one is passed on. Throws UsageError when there is nothing to be recorded: shapes keep changing, or the loss
  /// counts its items itself.
  Loss run(const Batch& batch, double factor, const Pass& pass);

 private:
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> sizes;
    at::ScalarType type;
    friend bool operator==(const Tensor&, const Tensor&) = default;
  };
  struct Form {
    std::vector<Tensor> tensors;
    double factor = 0;
    friend bool operator==(const Form&, const Form&) = default;
  };
  static Form form_of(const Batch& batch, double factor);

  bool warm_up(const Form& form);
  void record(const Batch& batch, const Pass& pass);

  Reducer& reducer_;
  std::unique_ptr<DeviceGraph> graph_;
  Form form_;  // what is recorded, or is about to be
  int passes_ = 0;
  int restarts_ = 0;
  Batch input_;               // what the recorded work reads
  std::optional<Loss> loss_;  // and what it writes
};

}  // namespace ddpkit
