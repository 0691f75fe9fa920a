#pragma once

#include "ddpkit/comm/buffer.hpp"
#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/comm/signature.hpp"

namespace ddpkit {

/// `smaller` is the side of the operation that holds one rank's part.
template <class AnyBuffer>
Signature signature_of(Collective kind, const AnyBuffer& smaller, ReduceOp op = ReduceOp::sum) {
  return {.kind = kind, .dtype = smaller.dtype, .detail = static_cast<std::uint8_t>(op), .count = smaller.count};
}

inline Signature signature_of_broadcast(const Buffer& data, int root) {
  Signature signature = signature_of(Collective::broadcast, data);
  signature.root = static_cast<std::uint32_t>(root);
  return signature;
}

}  // namespace ddpkit
