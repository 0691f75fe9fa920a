#include "ddpkit/tensor/own_stream.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace ddpkit {

// Through c10's registry, so that programs for CPUs need not link the CUDA libraries.
void use_own_stream(c10::Device device) {
  if (device.is_cpu()) return;
  const c10::impl::VirtualGuardImpl streams(device.type());
  streams.exchangeStream(streams.getNewStream(device));
}

}  // namespace ddpkit
