#include "comm/mpi_factory.hpp"

#include <mpi.h>

#include "comm/mpi/mpi_communicator.hpp"
#include "ddpkit/comm/mpi/wrap.hpp"

namespace ddpkit {

bool has_mpi() noexcept {
  return true;
}

std::unique_ptr<Communicator> make_mpi_communicator(const CommOptions& options) {
  auto runtime = mpi::Runtime::acquire();
  auto world = mpi::borrow_channel(MPI_COMM_WORLD, options);
  return mpi::open_communicator(std::move(runtime), std::move(world));
}

std::unique_ptr<Communicator> wrap_mpi_communicator(MPI_Comm comm, const CommOptions& options) {
  auto runtime = mpi::Runtime::acquire();
  return mpi::open_communicator(std::move(runtime), mpi::borrow_channel(comm, options));
}

}  // namespace ddpkit
