#include "ddpkit/step/noise_probe.hpp"

#include <cmath>

namespace ddpkit {

using Slot = Ballot::Slot;

void NoiseProbe::open(std::int64_t micro_batches, double expected_count) {
  micro_batches_ = micro_batches;
  expected_count_ = expected_count;
}

std::optional<Reducer::Scope> NoiseProbe::reach(std::int64_t index, Ballot& ballot) {
  if (!watching()) return std::nullopt;
  if (index == small_batch_end()) {
    count_ = ballot[Slot::count];
    rows_ = ballot[Slot::rows];
    ballot[Slot::small_squared_norm] = reducer_.local_squared_norm() * std::pow(expected_count_ / count_, 2);
  }
  if (index == micro_batches_) ballot[Slot::count_squared] = ballot[Slot::count] * ballot[Slot::count];
  if (index + 1 != small_batch_end()) return std::nullopt;
  return reducer_.measure_norm();
}

std::optional<NoiseObservation> NoiseProbe::observe(const Ballot& ballot, const StepResult& result) const {
  if (!watching()) return std::nullopt;
  const auto rows = static_cast<double>(result.rows), number = static_cast<double>(parts());
  const bool equal = ranks() > 1 ? ballot[Slot::count_squared] * number == result.count * result.count
                                 : count_ * number == result.count && rows_ * number == rows;
  if (!equal) return std::nullopt;
  return NoiseObservation{.small_batch = rows / number,
                          .small_squared_norm = ballot[Slot::small_squared_norm] / ranks(),
                          .large_batch = rows,
                          .large_squared_norm = result.grad_norm * result.grad_norm};
}

}  // namespace ddpkit
