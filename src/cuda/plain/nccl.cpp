#include "ddpkit/cuda/nccl.hpp"

#include <unistd.h>

#include <cstdio>

#include "comm/nccl/control_rendezvous.hpp"
#include "comm/nccl/file_rendezvous.hpp"
#include "comm/nccl/nccl_communicator.hpp"
#include "comm/nccl/tcp_rendezvous.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kFile = "file://";

// Nobody is left to report to: no control communicator, and NCCL is gone.
void end_process(const Error& reason) {
  std::fprintf(stderr, "%s\n", reason.what());
  std::fflush(nullptr);
  _exit(static_cast<int>(reason.status()));
}

void check_ranks(const NcclRendezvous& where) {
  if (where.rank < 0 || where.rank >= where.world_size)
    throw ConfigError(text("NCCL rendezvous: no rank ", where.rank, " among ", where.world_size));
}

std::unique_ptr<nccl::Rendezvous> make_rendezvous(const NcclRendezvous& where, std::chrono::milliseconds timeout) {
  const std::string_view place = where.place;
  if (place.starts_with(kTcp))
    return std::make_unique<nccl::TcpRendezvous>(
        nccl::TcpRendezvous::Options{.address = nccl::parse_address(place.substr(kTcp.size())),
                                     .rank = where.rank,
                                     .world_size = where.world_size,
                                     .timeout = timeout});
  if (place.starts_with(kFile))
    return std::make_unique<nccl::FileRendezvous>(nccl::FileRendezvous::Options{.folder = place.substr(kFile.size()),
                                                                                .job = where.job,
                                                                                .rank = where.rank,
                                                                                .world_size = where.world_size,
                                                                                .timeout = timeout});
  throw ConfigError(text("NCCL rendezvous: expected tcp://host:port or file:///folder, got '", place, "'"));
}

void check_device(const Device& device) {
  if (device.type != Device::Type::cuda) throw UsageError("make_nccl_communicator: NCCL needs a CUDA device, got cpu");
}

}  // namespace

std::unique_ptr<Communicator> make_nccl_communicator(Communicator& control, Device device, const CommOptions& options) {
  check_device(device);
  nccl::ControlRendezvous rendezvous(control);
  return nccl::NcclCommunicator::connect(rendezvous, {.device = device.index,
                                                      .timeout = options.timeout,
                                                      .end_job = [&control](const Error& reason) { control.abort(reason); }});
}

std::unique_ptr<Communicator> make_nccl_communicator(const NcclRendezvous& where, Device device, const CommOptions& options) {
  check_device(device);
  check_ranks(where);
  const std::unique_ptr<nccl::Rendezvous> rendezvous = make_rendezvous(where, options.timeout);
  return nccl::NcclCommunicator::connect(*rendezvous,
                                         {.device = device.index, .timeout = options.timeout, .end_job = end_process});
}

}  // namespace ddpkit
