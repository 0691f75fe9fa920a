#pragma once

#include <span>
#include <vector>

#include "ddpkit/reduce/channels.hpp"
#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// Gives every rank rank 0's values. Collective, blocking. First checks that names, shapes, types and order agree, and throws
/// CommError (ExitStatus::disagree) on all ranks, naming what differs, where they do not. For parameters and buffers, trainable
/// or not, before the first step.
void broadcast_tensors(std::span<const NamedTensor> tensors, Channels channels);

/// Rank 0's list of host tensors on every rank, whatever the others passed: they need not know names or shapes before.
/// Collective, blocking.
std::vector<NamedTensor> share_tensors(std::vector<NamedTensor> of_rank_0, Channels channels);

/// Makes buffers equal on all ranks: floating point ones, such as running statistics of batch norm, become the mean over ranks,
/// summed in float64; others become rank 0's. Collective, blocking. Called before evaluation and saving.
void average_buffers(std::span<const NamedTensor> buffers, Channels channels);

}  // namespace ddpkit
