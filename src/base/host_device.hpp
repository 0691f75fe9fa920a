#pragma once

// Marks what the host and the device both call. Seen by the CUDA compiler: C++17 only.
#ifdef __CUDACC__
#define DDPKIT_HOST_DEVICE __host__ __device__
#else
#define DDPKIT_HOST_DEVICE
#endif
