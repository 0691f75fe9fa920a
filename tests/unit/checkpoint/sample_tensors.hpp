#pragma once

#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/checkpoint/named_bytes.hpp"

namespace ddpkit::testing {

/// Tensors together with the memory they lie in.
class SampleTensors {
 public:
  template <Element T>
  void add(std::string name, std::vector<std::int64_t> shape, const std::vector<T>& values) {
    std::vector<std::byte> memory(values.size() * sizeof(T));
    if (!memory.empty()) std::memcpy(memory.data(), values.data(), memory.size());
    memory_.push_back(std::move(memory));
    tensors_.push_back({.name = std::move(name), .dtype = dtype_of<T>, .shape = std::move(shape), .bytes = memory_.back()});
  }

  const std::vector<NamedBytes>& tensors() const { return tensors_; }

 private:
  std::vector<std::vector<std::byte>> memory_;  // moving a vector leaves its elements in place
  std::vector<NamedBytes> tensors_;
};

/// The content of tests/golden/all_types.safetensors.
inline SampleTensors all_types() {
  SampleTensors sample;
  sample.add<std::uint8_t>("pixels", {3, 1}, {0, 255, 7});
  sample.add<float>("fc.weight", {2, 3}, {0.F, 0.25F, 0.5F, 0.75F, 1.F, 1.25F});
  sample.add<double>("fc.bias", {2}, {-0.0, std::numeric_limits<double>::infinity()});
  sample.add<Half>("half", {3}, {to_half(1.F), to_half(-2.5F), to_half(65504.F)});
  sample.add<BFloat16>("brain", {2}, {to_bfloat16(1.F), to_bfloat16(-3.F)});
  sample.add<std::int64_t>("count", {}, {std::int64_t{1} << 40});
  sample.add<std::int32_t>("index", {2}, {-1, 7});
  sample.add<float>("empty", {0, 4}, {});
  sample.add<float>("größe \"quoted\"", {1}, {2.F});
  return sample;
}

}  // namespace ddpkit::testing
