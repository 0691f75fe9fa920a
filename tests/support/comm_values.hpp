#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "ddpkit/base/dtype.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/communicator.hpp"

// Test data for collectives, and what should come out, worked out in double without any code of the backends.

namespace ddpkit::testing {

inline constexpr std::array kAllOps = {ReduceOp::sum, ReduceOp::mean, ReduceOp::min, ReduceOp::max};

template <class T>
T encode(double value) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(static_cast<float>(value));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

template <class T>
double decode(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return to_float(value);
  else
    return static_cast<double>(value);
}

/// Small whole numbers, exact in every type, different for neighbouring ranks and elements.
template <class T>
double value_at(int rank, std::size_t index) {
  const int pattern = static_cast<int>((index * 7 + static_cast<std::size_t>(rank) * 3) % 5);
  return std::is_same_v<T, std::uint8_t> ? pattern : pattern - 2;
}

template <class T>
std::vector<T> values_of(int rank, std::size_t count, std::size_t first = 0) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = encode<T>(value_at<T>(rank, first + i));
  return values;
}

template <class T>
double combined_at(int ranks, std::size_t index, ReduceOp op) {
  double result = value_at<T>(0, index);
  for (int rank = 1; rank < ranks; ++rank) {
    const double next = value_at<T>(rank, index);
    if (op == ReduceOp::min)
      result = std::min(result, next);
    else if (op == ReduceOp::max)
      result = std::max(result, next);
    else
      result += next;
  }
  return decode(encode<T>(op == ReduceOp::mean ? result / ranks : result));
}

/// Throws unless `got` holds `expected(i)` in every element.
template <class T, class Expected>
void require_values(const Communicator& comm, std::string_view what, const std::vector<T>& got, Expected expected) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (decode(got[i]) == expected(i)) continue;
    throw std::runtime_error(text(comm.backend(), ", rank ", comm.rank(), " of ", comm.world_size(), ": ", what, " of ",
                                  got.size(), " ", name_of(dtype_of<T>), ": element ", i, " is ", decode(got[i]), ", expected ",
                                  expected(i)));
  }
}

inline void require_that(const Communicator& comm, bool condition, std::string_view claim) {
  if (!condition)
    throw std::runtime_error(text(comm.backend(), ", rank ", comm.rank(), " of ", comm.world_size(), ": ", claim));
}

}  // namespace ddpkit::testing
