#pragma once

#include <cstddef>

#include "comm/nccl/operation.hpp"
#include "comm/nccl/session.hpp"

namespace ddpkit::nccl {

/// Makes memory from ncclMemAlloc known on all ranks alike, so that NCCL may reduce it without copies in between and, inside a
/// node, by kernels that read the peers' memory. Collective, equal size everywhere; every collective on the memory must then
/// use equal offsets. Null where the NCCL that this was built with is older than 2.27, or where NCCL finds no use for it.
void* open_window(Session& session, const Operation& operation, void* data, std::size_t bytes);

/// Not collective. Nothing may be under way on the memory.
void close_window(Session& session, void* window) noexcept;

}  // namespace ddpkit::nccl
