#include "ddpkit/comm/make_communicator.hpp"

#include "comm/environment_check.hpp"
#include "comm/local/local_communicator.hpp"
#include "comm/mpi_factory.hpp"
#include "ddpkit/base/log.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/comm/nccl_factory.hpp"

namespace ddpkit {
namespace {

// One line for the job: from the lowest rank that has something to say.
void warn_of_contradiction(Communicator& comm) {
  const std::string line = contradiction(comm.topology(), process_environment());
  const int speaker = line.empty() ? comm.world_size() : comm.rank();
  if (agree_min(comm, speaker, "environment") == comm.rank() && !line.empty())
    Logger({.rank = comm.rank(), .world_size = comm.world_size()}).warning("comm", line);
}

bool wants_mpi(Backend backend, const LaunchEnvironment& launcher) {
  if (backend == Backend::mpi) return true;
  return backend != Backend::local && launcher.under_launcher && has_mpi();
}

void check_alone(Backend backend, const LaunchEnvironment& launcher) {
  if (!launcher.under_launcher || launcher.world_size == 1) return;
  const char* why = backend == Backend::local ? "backend local is for one rank" : "this ddpkit was built without MPI";
  throw ConfigError(
      text("comm.backend: the launcher started ", launcher.world_size, " ranks, but ", why, "; every one would train alone"));
}

}  // namespace

std::unique_ptr<Communicator> make_communicator(const CommOptions& options) {
  const LaunchEnvironment launcher = read_launch_environment();
  if (!wants_mpi(options.backend, launcher)) {
    check_alone(options.backend, launcher);
    return std::make_unique<LocalCommunicator>();
  }
  auto comm = make_mpi_communicator(options);
  check_launcher(launcher, comm->topology());
  warn_of_contradiction(*comm);
  return comm;
}

std::unique_ptr<Communicator> make_data_communicator(Communicator& control, Device device, const CommOptions& options) {
  if (device.type == Device::Type::cpu) {
    if (options.backend == Backend::nccl) throw ConfigError("comm.backend: nccl needs a CUDA device, but the run is on cpu");
    return control.split(0, control.rank());
  }
  if (options.backend == Backend::mpi) throw ConfigError("comm.backend: mpi moves host data only; take auto or nccl on a GPU");
  const NcclFactory make_nccl = nccl_factory();
  if (make_nccl == nullptr)
    throw ConfigError("comm.backend: data on a CUDA device needs NCCL; link the program with ddpkit::cuda");
  return make_nccl(control, device, options);
}

}  // namespace ddpkit
