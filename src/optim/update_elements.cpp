// Compiled by itself, with flags of its own (src/CMakeLists.txt): no contraction, so that every loop rounds alike.
#include <type_traits>

#include "base/narrow_float.hpp"
#include "base/vector_width.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "optim/make_element.hpp"
#include "optim/update_rule.hpp"

namespace ddpkit {
namespace {

/// The type in which elements of T are computed.
template <class T>
using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T, class Rule>
[[gnu::always_inline]] inline void update_all(const Rule& shared, const UpdateStrip& strip) {
  const Rule rule = shared;  // a copy that no store below can be suspected to change
  T* __restrict const parameters = static_cast<T*>(strip.parameter);
  const T* __restrict const gradients = static_cast<const T*>(strip.gradient);
  T* __restrict const firsts = static_cast<T*>(strip.moments[0]);
  T* __restrict const seconds = static_cast<T*>(strip.moments[1]);
  for (std::int64_t i = 0; i < strip.count; ++i) {
    Real<T> parameter = widened(parameters[i]), first = 0, second = 0;
    if constexpr (Rule::kMoments > 0) first = widened(firsts[i]);
    if constexpr (Rule::kMoments > 1) second = widened(seconds[i]);
    rule(parameter, widened(gradients[i]), first, second);
    if constexpr (Rule::kMoments > 0) firsts[i] = narrowed<T>(first);
    if constexpr (Rule::kMoments > 1) seconds[i] = narrowed<T>(second);
    parameters[i] = narrowed<T>(parameter);
  }
}

template <class T, class Rule>
void update_basic(const Rule& rule, const UpdateStrip& strip) {
  update_all<T>(rule, strip);
}

template <class T, class Rule>
DDPKIT_TARGET_AVX2 void update_avx2(const Rule& rule, const UpdateStrip& strip) {
  update_all<T>(rule, strip);
}

template <class T, class Rule>
DDPKIT_TARGET_AVX512 void update_avx512(const Rule& rule, const UpdateStrip& strip) {
  update_all<T>(rule, strip);
}

template <class T, class Rule>
void update(const Rule& rule, const UpdateStrip& strip) {
  switch (vector_width()) {
    case VectorWidth::avx512: return update_avx512<T>(rule, strip);
    case VectorWidth::avx2: return update_avx2<T>(rule, strip);
    case VectorWidth::basic: return update_basic<T>(rule, strip);
  }
}

template <class T>
void update_as(const UpdateRule& rule, const UpdateStrip& strip) {
  with_element_rule<Real<T>>(rule, [&](const auto& element) { update<T>(element, strip); });
}

}  // namespace

void update_elements(const UpdateRule& rule, DType dtype, const UpdateStrip& strip) {
  switch (dtype) {
    case DType::float32: return update_as<float>(rule, strip);
    case DType::float64: return update_as<double>(rule, strip);
    case DType::float16: return update_as<Half>(rule, strip);
    case DType::bfloat16: return update_as<BFloat16>(rule, strip);
    default: throw UsageError(text("an optimizer cannot update ", name_of(dtype), " parameters; only floating point"));
  }
}

}  // namespace ddpkit
