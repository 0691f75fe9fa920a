#pragma once

#include <memory>
#include <string>

#include "ddpkit/comm/comm_options.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// A communicator for data on one CUDA device, with the ranks of `control`, which must outlive it. Collective over `control`,
/// blocking. Throws CommError, on all ranks alike, when a rank cannot use its device or two ranks have the same one.
///
/// Collectives run on a stream of their own, ordered after the stream that a buffer names when they are issued. Work::wait only
/// orders that stream after the collective; the host blocks in barrier, allocate, split and Work::synchronize. NCCL rounds
/// float16 and bfloat16 as it adds. A failure or a timeout aborts the communicator, also while the host is blocked inside CUDA.
std::unique_ptr<Communicator> make_nccl_communicator(Communicator& control, Device device, const CommOptions& options = {});

/// Where ranks without MPI find each other, and who they are.
struct NcclRendezvous {
  /// "tcp://host:port", where rank 0 listens, or "file:///folder", which all ranks see.
  std::string place;
  std::string job = "job";  ///< for files: differs from run to run, so that what a killed run left is not taken for this one's
  int rank = 0;
  int world_size = 1;
};

/// The same without a control communicator. `abort` then ends this process only; the others notice by NCCL or by the timeout.
/// Throws CommError (ExitStatus::timeout) that names the ranks that did not come within `options.timeout`.
std::unique_ptr<Communicator> make_nccl_communicator(const NcclRendezvous& rendezvous, Device device,
                                                     const CommOptions& options = {});

}  // namespace ddpkit
