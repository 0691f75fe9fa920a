#pragma once

// Seen by the CUDA compiler: C++17 only.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "base/host_device.hpp"
#include "cuda/update_launch.hpp"

namespace ddpkit::cuda {

/// The type in which elements of T are computed.
template <class T>
using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
DDPKIT_HOST_DEVICE Real<T> widened(T value) {
  if constexpr (std::is_same_v<T, __half>)
    return __half2float(value);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __bfloat162float(value);
  else
    return value;
}

template <class T>
DDPKIT_HOST_DEVICE T narrowed(Real<T> value) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half_rn(value);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16_rn(value);
  else
    return value;
}

/// One element of a strip on its way through an update: read, computed and written one after the other, so that a thread can
/// have several of them under way.
template <class T, class Rule>
struct UpdatedElement {
  Real<T> parameter, gradient, first, second;

  DDPKIT_HOST_DEVICE void read(const LaunchedStrip& strip, long long i) {
    parameter = widened(static_cast<const T*>(strip.parameter)[i]);
    gradient = widened(static_cast<const T*>(strip.gradient)[i]);
    if constexpr (Rule::kMoments > 0) first = widened(static_cast<const T*>(strip.moments[0])[i]);
    if constexpr (Rule::kMoments > 1) second = widened(static_cast<const T*>(strip.moments[1])[i]);
  }

  DDPKIT_HOST_DEVICE void write(const Rule& rule, const LaunchedStrip& strip, long long i) {
    rule(parameter, gradient, first, second);
    if constexpr (Rule::kMoments > 0) static_cast<T*>(strip.moments[0])[i] = narrowed<T>(first);
    if constexpr (Rule::kMoments > 1) static_cast<T*>(strip.moments[1])[i] = narrowed<T>(second);
    static_cast<T*>(strip.parameter)[i] = narrowed<T>(parameter);
  }
};

}  // namespace ddpkit::cuda
