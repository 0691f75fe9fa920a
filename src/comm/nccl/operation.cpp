#include "comm/nccl/operation.hpp"

#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {

std::string describe(int rank, const Operation& operation) {
  const std::string tag = operation.tag.empty() ? "" : text(" (", operation.tag, ")");
  return text("rank ", rank, ": ", operation.name, " #", operation.sequence, tag, ", ", operation.bytes, " bytes");
}

}  // namespace ddpkit::nccl
