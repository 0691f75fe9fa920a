#pragma once

#include <memory>

#include "comm/nccl/session.hpp"
#include "ddpkit/comm/memory.hpp"

namespace ddpkit::nccl {

/// Device memory from ncclMemAlloc, registered with one communicator, which it may outlive. Freed without a collective; like
/// cudaFree that waits for the device.
class NcclBlock final : public Memory::Block {
 public:
  NcclBlock(std::shared_ptr<Session> session, std::size_t bytes, std::uint64_t number);
  ~NcclBlock() override;

  /// The collective part of the registration, for when every rank has its memory.
  void share();

  NcclBlock(const NcclBlock&) = delete;
  NcclBlock& operator=(const NcclBlock&) = delete;

 private:
  std::shared_ptr<Session> session_;
  void* registration_ = nullptr;
  void* window_ = nullptr;
};

}  // namespace ddpkit::nccl
