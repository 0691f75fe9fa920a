#include "comm/nccl/watch.hpp"

#include <cuda_runtime_api.h>

namespace ddpkit::nccl {

Watch::Watch(WorkPool& pool, std::chrono::milliseconds interval)
    : pool_(pool), interval_(interval), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Watch::run(const std::stop_token& stop) {
  // Otherwise asking for an event would spoil the recording of a CUDA graph by another thread.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, interval_, [] { return false; });
    pool_.inspect();
  }
}

}  // namespace ddpkit::nccl
