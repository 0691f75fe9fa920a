#pragma once

namespace ddpkit::cuda {

/// Tells the rest that NCCL, CUDA graphs and the kernels of the optimizers are there. Called before main, from a source that is
/// compiled into every program that links ddpkit::cuda: a static library's own initialisers are dropped when nothing refers to
/// them, a shared one's with --as-needed.
int register_cuda() noexcept;

}  // namespace ddpkit::cuda
