#pragma once

namespace ddpkit {

/// Where bytes lie. `stream` is the CUDA stream (cudaStream_t) on which the owner of the bytes uses them; null is CUDA's own
/// default stream.
struct Device {
  enum class Type { cpu, cuda };
  Type type = Type::cpu;
  int index = 0;
  void* stream = nullptr;
};

}  // namespace ddpkit
