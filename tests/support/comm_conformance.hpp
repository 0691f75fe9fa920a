#pragma once

#include <span>
#include <string_view>

#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::testing {

/// One promise that every backend keeps.
struct ConformanceClaim {
  std::string_view claim;
  void (*check)(Communicator& comm);  ///< collective; throws std::runtime_error saying what was expected and what came
};

/// The specification of a backend: run all of them on 1, 2, 3 and 4 ranks, with the usual and with a lowered chunk limit.
std::span<const ConformanceClaim> conformance_claims();

}  // namespace ddpkit::testing
