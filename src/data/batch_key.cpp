#include "data/batch_key.hpp"

namespace ddpkit {

BatchKey following(const ShardedSampler& sampler, const BatchKey& key) noexcept {
  const bool more = (key.micro_index + 1) * key.micro < sampler.local_batch(key.window);
  if (more) return {key.window, key.micro, key.micro_index + 1};
  return {sampler.next(sampler.after(key.window)), key.micro, 0};
}

}  // namespace ddpkit
