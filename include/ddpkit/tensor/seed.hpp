#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace ddpkit {

/// Seeds LibTorch's process-wide generators of the CPU and of `device`. Not while another thread draws from them.
void seed_generators(std::uint64_t key, c10::Device device = c10::kCPU);

}  // namespace ddpkit
