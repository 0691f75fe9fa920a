#pragma once

namespace ddpkit {

/// What loops are compiled for: each of them in every width, and the widest that the machine knows is taken when it runs.
enum class VectorWidth {
  basic,  ///< what every machine of its kind has
  avx2,
  avx512,
};

#if defined(__x86_64__)
#define DDPKIT_TARGET_AVX2 [[gnu::target("avx2")]]
#define DDPKIT_TARGET_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]

inline VectorWidth vector_width() noexcept {
  static const VectorWidth width = [] {
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512) return VectorWidth::avx512;
    return __builtin_cpu_supports("avx2") ? VectorWidth::avx2 : VectorWidth::basic;
  }();
  return width;
}
#else
#define DDPKIT_TARGET_AVX2
#define DDPKIT_TARGET_AVX512

inline VectorWidth vector_width() noexcept {
  return VectorWidth::basic;
}
#endif

}  // namespace ddpkit
