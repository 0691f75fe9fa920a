#pragma once

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/topology.hpp"

namespace ddpkit {

/// The status to end with: never 0, which a launcher would take for success.
int abort_status(ExitStatus status) noexcept;

/// One line to standard error, in one write so that lines of ranks do not mix. Allocates nothing big and never throws.
void report_abort(const Topology& topology, const Error& reason) noexcept;

/// Leaves at once: flushes standard streams, runs no destructors and no exit handlers.
[[noreturn]] void end_process(ExitStatus status) noexcept;

}  // namespace ddpkit
