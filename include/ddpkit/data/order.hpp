#pragma once

#include <cstdint>

namespace ddpkit {

/// Which sample stands at a position of an epoch. Pure: the answer depends on the arguments and the object's constants alone,
/// never on rank, world size or what was asked before, so resuming is a jump. Thread-safe.
class Order {
 public:
  virtual ~Order() = default;

  /// Positions in one epoch.
  virtual std::int64_t size() const = 0;

  /// Index in the data set of the sample at `position`, which lies in [0, size()).
  virtual std::int64_t at(std::int64_t epoch, std::int64_t position) const = 0;
};

}  // namespace ddpkit
