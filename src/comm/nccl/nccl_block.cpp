#include "comm/nccl/nccl_block.hpp"

#include "comm/nccl/api_error.hpp"
#include "comm/nccl/handles.hpp"
#include "comm/nccl/window.hpp"

namespace ddpkit::nccl {

NcclBlock::NcclBlock(std::shared_ptr<Session> session, std::size_t bytes, std::uint64_t number) : session_(std::move(session)) {
  size = bytes;
  id = number;
  device = {.type = Device::Type::cuda, .index = session_->options().device};
  if (bytes == 0) return;
  void* begin = nullptr;
  check(ncclMemAlloc(&begin, bytes), "ncclMemAlloc");
  data = static_cast<std::byte*>(begin);
  const Operation operation{.name = "allocate", .sequence = number, .bytes = bytes};
  try {
    session_->invoke(operation, "ncclCommRegister",
                     [&](ncclComm_t comm) { return ncclCommRegister(comm, begin, bytes, &registration_); });
  } catch (const Error&) {
    ncclMemFree(begin);
    throw;
  }
}

void NcclBlock::share() {
  if (data != nullptr) window_ = open_window(*session_, {.name = "allocate", .sequence = id, .bytes = size}, data, size);
}

NcclBlock::~NcclBlock() {
  if (data == nullptr) return;
  session_->drain();  // with a limit, which waiting for the device has not
  try {
    const DeviceGuard guard(device.index);
    cudaDeviceSynchronize();
  } catch (const Error&) {  // the device is lost, and with it whatever used the memory
  }
  close_window(*session_, window_);
  session_->invoke_quietly([this](ncclComm_t comm) { return ncclCommDeregister(comm, registration_); });
  ncclMemFree(data);
}

}  // namespace ddpkit::nccl
