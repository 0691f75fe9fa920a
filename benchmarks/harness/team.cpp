#include "harness/team.hpp"

#include "ddpkit/base/error.hpp"

namespace bench {

Team::Team(Kind kind) {
  if (kind == Kind::alone) return;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) throw ddpkit::CommError("benchmarks need an MPI with MPI_THREAD_SERIALIZED");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

Team::~Team() {
  if (comm_ == MPI_COMM_NULL) return;
  MPI_Comm_free(&comm_);
  MPI_Finalize();
}

void Team::barrier() const {
  if (size_ > 1) MPI_Barrier(comm_);
}

double Team::combined(double value, MPI_Op op) const {
  if (size_ > 1) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, op, comm_);
  return value;
}

double Team::largest(double value) const {
  return combined(value, MPI_MAX);
}
double Team::sum(double value) const {
  return combined(value, MPI_SUM);
}

}  // namespace bench
