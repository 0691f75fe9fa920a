#include "ddpkit/tune/tune_batch.hpp"

#include "tune/batch_search.hpp"

namespace ddpkit {

TuneResult tune_batch(const Trainer& trainer, const Dataset& train_set) {
  BatchSearch search(trainer, train_set);
  return search.run();
}

}  // namespace ddpkit
