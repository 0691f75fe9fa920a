#pragma once

namespace ddpkit {

/// What a program that calls `ddpkit::main` returns to the shell. The numbers follow sysexits.h where it has one.
enum class ExitStatus : int {
  ok = 0,
  usage = 64,      ///< wrong command line
  data = 65,       ///< bad training data
  peer_lost = 69,  ///< a rank died (from `ddpkit launch`; plain mpirun reports 128 + signal)
  internal = 70,   ///< a bug, here or in the user's program
  memory = 71,     ///< out of memory
  storage = 74,    ///< reading or writing files failed
  stopped = 75,    ///< stopped on request and saved: run again to continue
  disagree = 76,   ///< ranks differ in model, settings or collectives
  config = 78,     ///< bad configuration
  diverged = 80,   ///< loss or gradient not finite and the policy says stop
  timeout = 124,   ///< a collective timed out
};

}  // namespace ddpkit
