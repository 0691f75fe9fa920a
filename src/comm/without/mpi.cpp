#include "comm/mpi_factory.hpp"
#include "ddpkit/base/error.hpp"

namespace ddpkit {

bool has_mpi() noexcept {
  return false;
}

std::unique_ptr<Communicator> make_mpi_communicator(const CommOptions&) {
  throw ConfigError("comm.backend: mpi was asked for, but this ddpkit was built without MPI; configure it with DDPKIT_MPI=ON");
}

}  // namespace ddpkit
