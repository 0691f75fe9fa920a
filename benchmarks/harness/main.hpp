#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/companion.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "harness/team.hpp"

namespace bench {

/// How long to measure.
enum class Effort { quick, full };

/// What every program is given.
struct Session {
  const Team& team;
  Report& report;
  Effort effort = Effort::full;
  std::string only{};              ///< part of the names of the cases wanted; empty: all
  std::string python{};            ///< with the full torch package; empty: there is none
  std::string source{};            ///< the folder benchmarks
  Companion* rival = nullptr;      ///< the Python rival, where there is one
  std::string no_rival_because{};  ///< or why there is none

  bool wants(const std::string& title) const { return only.empty() || title.find(only) != std::string::npos; }
  Rounds rounds(int full_rounds = 15) const;
};

struct Program {
  enum class Ranks { of_mpirun, one_process };
  std::string name;
  Ranks ranks = Ranks::of_mpirun;
  std::string rival_script{};  ///< in benchmarks/rivals, run by the Python of --python; empty: none
  Facts (*facts)() = nullptr;  ///< more than describe_machine() knows
};

/// `main` of a benchmark: reads the options, starts the companion and MPI, calls `body`, prints the report. An exception ends
/// the job with a message and a status that is not 0.
int run(int argc, char** argv, const Program& program, const std::function<void(Session&)>& body);

}  // namespace bench
