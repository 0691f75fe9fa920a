#pragma once

#include <mpi.h>

namespace bench {

/// The ranks that are measured together, over MPI itself, so that what is measured is not what measures. Or one process alone,
/// without MPI.
class Team {
 public:
  /// All ranks of mpirun. Starts MPI with MPI_THREAD_SERIALIZED and ends it when it dies.
  static Team of_ranks() { return Team(Kind::ranks); }
  static Team alone() { return Team(Kind::alone); }
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  MPI_Comm comm() const noexcept { return comm_; }

  void barrier() const;
  double largest(double value) const;
  double sum(double value) const;
  bool any(bool value) const { return largest(value ? 1 : 0) > 0; }

 private:
  enum class Kind { ranks, alone };
  explicit Team(Kind kind);
  double combined(double value, MPI_Op op) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace bench
