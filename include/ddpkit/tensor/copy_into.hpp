#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// How names of two sets of tensors have to agree.
enum class Match {
  strict,   ///< both sets have the same names
  by_name,  ///< names on one side only are passed over; at least one is shared
};

/// Throws as copy_into does for two sets that do not agree. Writes nothing.
void require_match(std::span<const NamedTensor> destinations, std::span<const NamedTensor> source, Match match,
                   std::string_view origin);

/// Copies each tensor of `source` into the one of the same name in `destinations`, in place, gradients not recorded. Order does
/// not matter; devices and strides may differ, shapes and types may not. Returns how many were copied.
/// Throws DataError that begins with `origin` and lists every missing and unexpected name (unless they are passed over) and
/// every difference in shape or type; then nothing has been written.
std::size_t copy_into(std::span<const NamedTensor> destinations, std::span<const NamedTensor> source, Match match,
                      std::string_view origin);

}  // namespace ddpkit
