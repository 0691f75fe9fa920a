#pragma once

#include <cstdint>
#include <vector>

#include "ddpkit/tensor/named_tensor.hpp"
#include "optim/shard_region.hpp"

namespace ddpkit {

/// Parameters whose values lie in a region, as long as this lives; then they have memory of their own again.
class PlacedParameters {
 public:
  /// Collective. The values have to be equal on all ranks. Tensors keep their identity and strides. `comm` must outlive it.
  PlacedParameters(std::vector<NamedTensor> parameters, const ShardPlan& plan, Communicator& comm);
  ~PlacedParameters();
  PlacedParameters(const PlacedParameters&) = delete;
  PlacedParameters& operator=(const PlacedParameters&) = delete;

  /// They may move on to another region without coming back first.
  void let_go() noexcept { parameters_.clear(); }

  /// Throws UsageError, naming the parameter, when one has other memory by now, or was written to although the ranks share it:
  /// what each rank does would happen to the one copy as often as there are ranks.
  void require_untouched() const;

  /// What they hold now is right.
  void accept();

  /// A rank has written to parameter `index` of the list.
  void tell_written(std::size_t index) noexcept;

  /// Collective: this rank's run is up to date, and afterwards all of them are, here.
  void share_runs(const ShardPlan& plan);

  const ShardRegion& region() const noexcept { return region_; }

 private:
  struct Watched {
    const void* data;
    std::uint32_t version;
  };
  void take_in(const ShardPlan& plan, int rank);

  Communicator& comm_;
  std::vector<NamedTensor> parameters_;
  ShardRegion region_;
  std::vector<Watched> watched_;
};

}  // namespace ddpkit
