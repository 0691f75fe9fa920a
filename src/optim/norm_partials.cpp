#include "optim/norm_partials.hpp"

#include <algorithm>

namespace ddpkit {

NormPartials::NormPartials(const ShardPlan& plan, Communicator& comm) : comm_(comm) {
  const auto ranks = static_cast<std::size_t>(comm.world_size());
  const std::size_t most = std::max<std::size_t>(1, plan.most_blocks_of_a_rank());
  memory_ = comm.allocate(most * sizeof(double));
  const bool shared = memory_.parts().size() == ranks;
  if (!shared) gathered_.resize(ranks * most);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto* begin = shared ? reinterpret_cast<const double*>(memory_.parts()[rank]) : gathered_.data() + rank * most;
    of_rank_.emplace_back(begin, plan.of(static_cast<int>(rank)).size());
  }
  own_ = {reinterpret_cast<double*>(memory_.data()), most};
}

void NormPartials::exchange() {
  if (gathered_.empty()) return comm_.barrier();
  comm_.all_gather(std::span<const double>(own_), std::span<double>(gathered_), "norms of blocks").synchronize();
}

double NormPartials::sum() const noexcept {
  double sum = 0;
  for (const std::span<const double> partials : of_rank_)
    for (const double partial : partials) sum += partial;
  return sum;
}

}  // namespace ddpkit
