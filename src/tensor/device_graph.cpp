#include "ddpkit/tensor/device_graph.hpp"

namespace ddpkit {
namespace {

constinit DeviceGraphFactory linked_graph_factory = nullptr;

}  // namespace

void set_device_graph_factory(DeviceGraphFactory factory) noexcept {
  linked_graph_factory = factory;
}

DeviceGraphFactory device_graph_factory() noexcept {
  return linked_graph_factory;
}

}  // namespace ddpkit
