#pragma once

#include <c10/core/Device.h>

namespace bench {

/// Where the programs run. A rehearsal goes through everything that needs no GPU, with tiny sizes on the CPU, and measures
/// nothing: it shows that the benchmark itself works.
struct Place {
  c10::Device device = c10::kCPU;
  bool rehearsal() const noexcept { return device.is_cpu(); }
};

/// Blocks until the device has done all that it was given.
void synchronize(const Place& place);

}  // namespace bench
