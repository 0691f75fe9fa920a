#pragma once

#include <functional>
#include <memory>

namespace ddpkit {

/// Work that a device was given once and repeats without the host's help: a CUDA graph.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;

  /// Runs `body`, whose work for the device is recorded instead of carried out: its tensors have no values yet. Everything that
  /// `body` allocates on the device belongs to the graph from then on. Throws UsageError on the device's default stream, which
  /// cannot be recorded, and rethrows what `body` throws. Once.
  virtual void record(const std::function<void()>& body) = 0;

  /// Carries out what was recorded, on the current stream. Asynchronous.
  virtual void replay() = 0;
};

using DeviceGraphFactory = std::unique_ptr<DeviceGraph> (*)();

/// Called once, before main, by the library ddpkit::cuda when it is linked, as set_nccl_factory.
void set_device_graph_factory(DeviceGraphFactory factory) noexcept;

/// Null when ddpkit::cuda is not linked.
DeviceGraphFactory device_graph_factory() noexcept;

}  // namespace ddpkit
