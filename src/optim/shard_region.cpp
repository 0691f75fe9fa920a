#include "optim/shard_region.hpp"

#include <algorithm>

namespace ddpkit {
namespace {

constexpr std::size_t kPage = 4096;  // parts of whole pages lie side by side

std::size_t part_of(std::size_t bytes, int ranks) {
  const std::size_t pages = (bytes + kPage - 1) / kPage;
  const auto parts = static_cast<std::size_t>(ranks);
  return std::max<std::size_t>(1, (pages + parts - 1) / parts) * kPage;
}

}  // namespace

ShardRegion::ShardRegion(const ShardPlan& plan, Holds holds, Communicator& comm) {
  const int ranks = comm.world_size();
  if (ranks > 1) memory_ = comm.allocate(part_of(plan.bytes, ranks));
  shared_ = ranks > 1 && memory_.parts().size() == static_cast<std::size_t>(ranks) && !memory_.joined().empty();
  if (shared_) {
    begin_ = memory_.joined().data();
    return;
  }
  memory_ = {};
  memory_ = comm.allocate(holds == Holds::everything ? plan.bytes : plan.largest_run());
  begin_ = memory_.data();
  if (holds == Holds::own_run) first_ = plan.runs[static_cast<std::size_t>(comm.rank())].begin;
}

}  // namespace ddpkit
