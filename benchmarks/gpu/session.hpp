#pragma once

#include <memory>
#include <string>

#include "ddpkit/comm/communicator.hpp"
#include "harness/companion.hpp"
#include "harness/report.hpp"
#include "place.hpp"
#include "turns.hpp"

namespace bench {

/// What every measurement is given.
struct Session {
  Place place;
  Report& report;
  ddpkit::Communicator& control;   ///< this rank alone, host data
  ddpkit::Communicator& data;      ///< this rank alone: NCCL on a GPU
  Companion* rival = nullptr;      ///< PyTorch's own wrapper, where there is a Python with torch
  std::string no_rival_because{};  ///< or why there is none

  /// Adds a row, with no figure in a rehearsal.
  void add(Row row) const;
  /// Adds a row that says why nothing was measured.
  void skip(Row row, std::string reason) const;
};

/// Throws unless ddpkit, alone and among two, trains as the bare loop does.
void check_results(const Session& session);

void measure_wrapper(const Session& session);      ///< G1
void measure_optimizer(const Session& session);    ///< G2, G3
void measure_graph(const Session& session);        ///< G4
void measure_memory(const Session& session);       ///< G5
void measure_overlap(const Session& session);      ///< G6
void measure_rival(const Session& session);        ///< G7
void measure_compression(const Session& session);  ///< G8

}  // namespace bench
