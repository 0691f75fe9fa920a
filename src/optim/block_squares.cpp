// Compiled by itself, with flags of its own (src/CMakeLists.txt): no contraction, so that every width rounds alike.
#include "optim/block_squares.hpp"

#include "base/narrow_float.hpp"
#include "base/vector_width.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kLanes = BlockSquares::kLanes;
using Lanes = std::array<double, kLanes>;

// Lanes are written out because a compiler may not reorder additions by itself.
template <class T>
[[gnu::always_inline]] inline void add_all(const T* values, std::int64_t count, Lanes& shared) {
  Lanes lanes = shared;  // in registers
  const std::int64_t whole = count - count % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = widened(values[i + lane]);
      lanes[lane] += value * value;
    }
  for (std::int64_t i = whole; i < count; ++i) {
    const double value = widened(values[i]);
    lanes[i - whole] += value * value;
  }
  shared = lanes;
}

template <class T>
void add_basic(const T* values, std::int64_t count, Lanes& lanes) {
  add_all(values, count, lanes);
}

template <class T>
DDPKIT_TARGET_AVX2 void add_avx2(const T* values, std::int64_t count, Lanes& lanes) {
  add_all(values, count, lanes);
}

template <class T>
DDPKIT_TARGET_AVX512 void add_avx512(const T* values, std::int64_t count, Lanes& lanes) {
  add_all(values, count, lanes);
}

template <class T>
void add_as(const void* elements, std::int64_t count, Lanes& lanes) {
  const T* values = static_cast<const T*>(elements);
  switch (vector_width()) {
    case VectorWidth::avx512: return add_avx512(values, count, lanes);
    case VectorWidth::avx2: return add_avx2(values, count, lanes);
    case VectorWidth::basic: return add_basic(values, count, lanes);
  }
}

}  // namespace

void BlockSquares::add(const void* elements, DType dtype, std::int64_t count) {
  switch (dtype) {
    case DType::float32: return add_as<float>(elements, count, lanes_);
    case DType::float64: return add_as<double>(elements, count, lanes_);
    case DType::float16: return add_as<Half>(elements, count, lanes_);
    case DType::bfloat16: return add_as<BFloat16>(elements, count, lanes_);
    default: throw UsageError(text("the norm of ", name_of(dtype), " gradients is not defined here"));
  }
}

double BlockSquares::sum() const noexcept {
  Lanes lanes = lanes_;
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

}  // namespace ddpkit
