#include "ddpkit/comm/nccl_factory.hpp"

namespace ddpkit {
namespace {

constinit NcclFactory linked_factory = nullptr;

}  // namespace

void set_nccl_factory(NcclFactory factory) noexcept {
  linked_factory = factory;
}

NcclFactory nccl_factory() noexcept {
  return linked_factory;
}

}  // namespace ddpkit
