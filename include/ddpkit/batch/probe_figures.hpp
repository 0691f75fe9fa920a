#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/base/placement.hpp"
#include "ddpkit/batch/batch_plan.hpp"

namespace ddpkit {

/// What a program's verb `probe` measured on so many ranks, as far as rules need it.
struct ProbeFigures {
  struct Range {
    double low = 0;
    double high = 0;
  };
  struct Phase {
    std::string name{};
    double seconds = 0;
  };
  struct Memory {
    int rank = 0;
    std::int64_t peak_bytes = 0;
    std::int64_t limit_bytes = 0;  ///< 0: not known
  };

  int ranks = 1;
  BatchPlan plan{};
  std::string device = "cpu";
  double samples_per_second = 0;  ///< over all ranks; 0: memory ran out
  Range rate{};                   ///< 95 % interval of it
  double utilisation = 0;
  double data_share = 0;           ///< of the step, waiting for data
  double communication_share = 0;  ///< of the step, waiting for gradients
  std::vector<Phase> phases{};
  double memory_target = 0.9;
  std::vector<Memory> memory{};
  std::vector<Placement> placement{};
  double other_work = 0;  ///< of the cores' time, taken by other programs meanwhile; 0 where that is not known
  std::string verdict{};  ///< the probe's own words

  bool ran() const noexcept { return samples_per_second > 0; }
  /// Some rank shares its cores with more ranks than there are cores.
  bool crowded() const noexcept;
  /// Times of single windows vary too much for a rate: its interval reaches further than a fifth to either side.
  bool unsteady() const noexcept;
  /// Intra-op threads of a rank, the fewest; 0: not known.
  int threads() const noexcept;
  /// The rank whose memory is fullest; nullptr where no limit is known.
  const Memory* fullest() const noexcept;
};

/// How ranks were bound, in words: "each bound to cores of its own: 0, 1"; "not bound: 4 ranks share the cores 0-1 of node1".
/// Pure.
std::string binding_text(std::span<const Placement> placement);

}  // namespace ddpkit
