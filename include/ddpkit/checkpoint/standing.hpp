#pragma once

namespace ddpkit {

/// How a checkpoint compares with those before it.
enum class Standing {
  ordinary,
  best,  ///< the monitored metric was never better: kept until a better one comes
};

}  // namespace ddpkit
