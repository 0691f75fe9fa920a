// Stand-ins for the CUDA runtime calls that the NCCL backend makes.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ddpkit/base/text.hpp"
#include "support/fake_gpu.hpp"

namespace {

thread_local int current_device = 0;
std::map<int, CUstream_st> default_streams;  // by device

CUstream_st& stream_of(cudaStream_t stream) {
  return stream == nullptr ? default_streams[current_device] : *stream;
}

}  // namespace

namespace ddpkit::testing {

FakeGpu& FakeGpu::get() {
  static FakeGpu instance;
  return instance;
}

void FakeGpu::reset() {
  const std::lock_guard lock(mutex);
  behaviour = {};
  log.clear();
  stream_log.clear();
  failed_call.clear();
  default_streams.clear();
  live = aborts = destroys = registrations = windows = 0;
}

int FakeGpu::count(std::string_view call) const {
  int times = 0;
  for (const std::string& entry : log) times += entry == call ? 1 : 0;
  return times;
}

bool FakeGpu::enter(const char* call) {
  const bool fails = static_cast<int>(log.size()) == behaviour.fail_call;
  log.emplace_back(call);
  if (fails) failed_call = call;
  return fails;
}

bool all_done(const std::vector<std::shared_ptr<FakeOp>>& ops) {
  for (const auto& op : ops)
    if (!op->done) return false;
  return true;
}

}  // namespace ddpkit::testing

using ddpkit::text;
using ddpkit::testing::all_done;
using ddpkit::testing::FakeGpu;

#define FAKE_CUDA_CALL(name)        \
  FakeGpu& gpu = FakeGpu::get();    \
  std::unique_lock lock(gpu.mutex); \
  if (gpu.enter(name)) return cudaErrorUnknown

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  FAKE_CUDA_CALL("cudaGetDevice");
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  FAKE_CUDA_CALL("cudaSetDevice");
  if (gpu.behaviour.devices == 0) return cudaErrorNoDevice;
  if (device < 0 || device >= gpu.behaviour.devices) return cudaErrorInvalidDevice;
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int device) {
  FAKE_CUDA_CALL("cudaDeviceGetPCIBusId");
  std::snprintf(id, static_cast<std::size_t>(size), "0000:%02x:00.0", device / gpu.behaviour.shared_bus_ids);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  FAKE_CUDA_CALL("cudaDeviceGetStreamPriorityRange");
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  FAKE_CUDA_CALL("cudaStreamCreateWithPriority");
  if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;  // the default stream would wait for it
  *stream = new CUstream_st{.id = gpu.next_id++, .priority = priority, .tail = {}};
  ++gpu.live;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  FakeGpu& gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  delete stream;
  --gpu.live;
  return gpu.enter("cudaStreamDestroy") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  FAKE_CUDA_CALL("cudaStreamQuery");
  return all_done(stream_of(stream).tail) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  FAKE_CUDA_CALL("cudaStreamSynchronize");
  gpu.changed.wait(lock, [&] { return all_done(stream_of(stream).tail); });
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  FAKE_CUDA_CALL("cudaStreamWaitEvent");
  CUstream_st& waiting = stream_of(stream);
  gpu.stream_log.push_back(text("wait s", waiting.id, " e", event->id));
  waiting.tail.insert(waiting.tail.end(), event->after.begin(), event->after.end());
  if (gpu.behaviour.host_is_stream && waiting.priority == 0) gpu.changed.wait(lock, [&] { return all_done(event->after); });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  FAKE_CUDA_CALL("cudaEventCreateWithFlags");
  if (flags != cudaEventDisableTiming) return cudaErrorInvalidValue;
  *event = new CUevent_st{.id = gpu.next_id++, .after = {}};
  ++gpu.live;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  FakeGpu& gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  delete event;
  --gpu.live;
  return gpu.enter("cudaEventDestroy") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  FAKE_CUDA_CALL("cudaEventRecord");
  CUstream_st& recorded = stream_of(stream);
  std::erase_if(recorded.tail, [](const auto& op) { return op->done; });
  event->after = recorded.tail;
  gpu.stream_log.push_back(text("record e", event->id, " s", recorded.id));
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  FAKE_CUDA_CALL("cudaEventQuery");
  return all_done(event->after) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  FAKE_CUDA_CALL("cudaEventSynchronize");
  gpu.changed.wait(lock, [&] { return all_done(event->after); });
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  FAKE_CUDA_CALL("cudaDeviceSynchronize");
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  FAKE_CUDA_CALL("cudaMalloc");
  *data = std::calloc(bytes, 1);
  ++gpu.live;
  return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
  FakeGpu& gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  std::free(data);
  --gpu.live;
  return gpu.enter("cudaFree") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  FAKE_CUDA_CALL("cudaMemcpyAsync");
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  *mode = cudaStreamCaptureModeGlobal;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  return cudaSuccess;
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    default: return "unknown error";
  }
}

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorNoDevice ? "cudaErrorNoDevice" : "cudaErrorUnknown";
}

}  // extern "C"
