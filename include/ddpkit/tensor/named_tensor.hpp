#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace ddpkit {

/// A tensor and its name as in Python's state_dict: "conv1.weight".
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// The items of a LibTorch dictionary such as `module->named_parameters()`, in its order.
template <class Dict>
std::vector<NamedTensor> named_tensors(const Dict& dict) {
  std::vector<NamedTensor> items;
  for (const auto& item : dict) items.push_back({item.key(), item.value()});
  return items;
}

/// Without tensors that came before under another name, as tied weights do.
std::vector<NamedTensor> without_repeats(std::vector<NamedTensor> items);

}  // namespace ddpkit
