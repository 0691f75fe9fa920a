#pragma once

#include <memory>

#include "ddpkit/comm/comm_options.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// Makes the NCCL communicator with the ranks of `control` for one CUDA device. Collective over `control`.
using NcclFactory = std::unique_ptr<Communicator> (*)(Communicator& control, Device device, const CommOptions& options);

/// Called once, before main, by the library ddpkit::cuda when it is linked: whether NCCL is there is a fact of the link, which
/// the core, that never sees NCCL, must be able to ask.
void set_nccl_factory(NcclFactory factory) noexcept;

/// Null when ddpkit::cuda is not linked.
NcclFactory nccl_factory() noexcept;

}  // namespace ddpkit
