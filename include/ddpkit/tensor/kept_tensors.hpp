#pragma once

#include <span>
#include <vector>

#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// Copies of tensors, to be put back when what follows turns out to count for nothing. Keeps its memory between uses.
class KeptTensors {
 public:
  /// Copies `tensors`. Takes memory only when their names, shapes, types, strides or devices are not those of the last time;
  /// when there is none, nothing is kept.
  void keep(std::span<const NamedTensor> tensors);

  /// Copies what is kept, if anything, into the tensors of the same names. Throws DataError when names or shapes are others by
  /// now.
  void put_back(std::span<const NamedTensor> tensors) const;

 private:
  bool fits(std::span<const NamedTensor> tensors) const;

  std::vector<NamedTensor> copies_;
  bool holds_ = false;
};

}  // namespace ddpkit
