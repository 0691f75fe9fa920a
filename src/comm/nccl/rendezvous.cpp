#include "comm/nccl/rendezvous.hpp"

#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {

std::string name_ranks(const std::vector<int>& ranks, int world_size) {
  std::string names;
  for (const int rank : ranks) names += text(names.empty() ? "" : ", ", rank);
  return text(ranks.size() == 1 ? "rank " : "ranks ", names, " of ", world_size);
}

}  // namespace ddpkit::nccl
