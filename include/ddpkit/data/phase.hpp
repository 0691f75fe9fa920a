#pragma once

namespace ddpkit {

/// What samples are read for.
enum class Phase {
  train,     ///< random transforms apply; fewer samples than ranks are an error
  evaluate,  ///< nothing random; any number of samples but none will do, ranks without one simply get no rows
};

}  // namespace ddpkit
