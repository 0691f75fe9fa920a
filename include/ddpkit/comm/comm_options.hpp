#pragma once

#include <array>
#include <chrono>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// Which library moves data between ranks.
enum class Backend {
  automatic,  ///< nccl on GPUs, mpi under a launcher, else local
  mpi,
  nccl,
  local,  ///< one rank
};

constexpr auto enum_names(Backend) {
  return std::to_array<std::pair<Backend, std::string_view>>(
      {{Backend::automatic, "auto"}, {Backend::mpi, "mpi"}, {Backend::nccl, "nccl"}, {Backend::local, "local"}});
}

struct CommOptions {
  Backend backend = Backend::automatic;
  /// How long a collective may wait for the slowest rank. Longer than a network blip (20 s on TCP), shorter than a night.
  std::chrono::milliseconds timeout = std::chrono::seconds(120);
  /// Elements in one call of the underlying library; more are split. Lowered by tests only.
  std::int64_t chunk_elements = 1 << 30;
};

template <class Visitor>
void visit_fields(Visitor& visit, CommOptions& options) {
  visit("backend", options.backend,
        "which library moves data between ranks: auto takes nccl on GPUs, mpi under mpirun, else local");
  visit("timeout", options.timeout, "how long a collective may wait for the slowest rank before the job ends with status 124",
        at_least(1));
}

}  // namespace ddpkit
