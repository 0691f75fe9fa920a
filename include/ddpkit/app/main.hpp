#pragma once

#include <functional>

#include "ddpkit/app/job.hpp"
#include "ddpkit/base/exit_status.hpp"
#include "ddpkit/config/run_config.hpp"

namespace ddpkit {

/// What the user's program does with a job.
using Program = std::function<ExitStatus(Job&)>;

/// The main function of a program that trains with ddpkit: reads the command line and the run file, brings the ranks together,
/// runs `program` on all of them and returns the exit status. Nothing escapes it: an error is reported with its rank, and when
/// the ranks do not share it the whole job is ended.
///
///     program [train | evaluate | probe | tune | config] [--config FILE] [--set KEY=VALUE]... [--json]
int main(int argc, char** argv, const Program& program);

/// The same with the program's own defaults, which the run file and --set override.
int main(int argc, char** argv, const RunConfig& defaults, const Program& program);

}  // namespace ddpkit
