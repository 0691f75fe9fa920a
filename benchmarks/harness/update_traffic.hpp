#pragma once

#include <cstddef>
#include <vector>

#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/comm/memory.hpp"

namespace bench {

/// The memory traffic that no shared update in one pass avoids, and next to no arithmetic: a rank reads its share of every
/// rank's gradients, and reads and writes its share of the parameters and of two moments.
class UpdateTraffic {
 public:
  /// Collective. All ranks of `comm` share one node.
  UpdateTraffic(ddpkit::Communicator& comm, std::size_t bytes);

  void backward();  ///< writes gradients of this rank
  void update();    ///< once all have written theirs

 private:
  std::size_t rank_;
  ddpkit::Memory gradients_;   // every rank's own
  ddpkit::Memory parameters_;  // the first rank's, for all
  std::size_t first_;
  std::vector<float> own_;
  std::vector<float> average_;
  std::vector<float> square_;
};

}  // namespace bench
