#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ddpkit/data/data_options.hpp"
#include "ddpkit/data/dataset.hpp"
#include "ddpkit/data/host_batch.hpp"
#include "ddpkit/data/phase.hpp"
#include "ddpkit/data/transform.hpp"

namespace ddpkit {

/// Transforms applied one after the other to the field "input" of each row. Copies share the transforms. Thread-safe.
class TransformChain {
 public:
  TransformChain() = default;
  TransformChain(std::vector<std::shared_ptr<const Transform>> transforms, std::uint64_t seed);

  bool empty() const noexcept { return transforms_.empty(); }

  /// Throws ConfigError when "input" is missing, is not float32, or has a shape that a transform refuses.
  void check(std::span<const FieldSpec> fields) const;

  /// Changes the rows of a gathered batch in place.
  void apply(HostBatch& batch) const;

 private:
  std::vector<std::shared_ptr<const Transform>> transforms_;
  std::uint64_t seed_ = 0;
};

/// Crop, flip, normalise, in this order, each where the options ask for it; in Phase::evaluate only what is not random.
TransformChain make_transforms(const TransformOptions& options, Phase phase, std::uint64_t seed);

}  // namespace ddpkit
