#pragma once

#include <cstdint>
#include <optional>

#include "ddpkit/batch/noise_scale.hpp"

namespace ddpkit {

/// What should happen after a step, in rising order of urgency. Agreed by all ranks: the most urgent wish of any rank wins.
enum class Wish {
  go_on,
  finish,         ///< the program asked for the end of training
  save_and_stop,  ///< a signal asked to make room
};

/// What became of a window. Equal on all ranks, except where said.
struct StepResult {
  enum class Update {
    applied,
    skipped,   ///< not finite, policy skip; or a window without rows
    given_up,  ///< memory of some rank was not enough; this is no step: nothing has changed, and the window may be tried again
  };

  Update update = Update::applied;
  std::int64_t step = 0;  ///< number of this step, from 0
  double loss = 0;        ///< mean over all items of all ranks; this and what follows is 0 in a window given up
  double count = 0;       ///< items: rows or tokens
  std::int64_t rows = 0;  ///< real samples
  double lr = 0;          ///< learning rate of the schedule at this step
  double grad_norm = 0;   ///< global norm of the mean gradient, before clipping
  std::optional<NoiseObservation> noise{};  ///< where it was asked for and the window gives one
  Wish wish = Wish::go_on;
  double data_seconds = 0;     ///< mean over ranks: waiting for batches
  double compute_seconds = 0;  ///< mean over ranks: forward and backward, with the communication that overlaps them
  double reduce_seconds = 0;   ///< this rank: waiting for gradients after backward
  double update_seconds = 0;   ///< this rank: norm, clip, optimizer
};

}  // namespace ddpkit
