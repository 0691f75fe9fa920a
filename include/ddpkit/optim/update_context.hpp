#pragma once

namespace ddpkit {

/// What one update is told by the one who owns the window.
struct UpdateContext {
  double lr = 0;          ///< learning rate of parameters whose group has lr_factor 1
  double grad_scale = 1;  ///< gradients are multiplied by it, once, in the pass that reads them
  double clip_norm = 0;   ///< scaled gradients are scaled down to this global norm; 0: never
};

}  // namespace ddpkit
