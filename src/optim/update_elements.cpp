// Compiled by itself, with flags of its own (src/CMakeLists.txt): no contraction, so that every loop rounds alike.
#include <new>
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

using Run = void (*)(const void* element, const UpdateStrip& strip);

template <class T, class Rule>
void update_basic(const void* element, const UpdateStrip& strip) {
  update_all<T>(*static_cast<const Rule*>(element), strip);
}

template <class T, class Rule>
DDPKIT_TARGET_AVX2 void update_avx2(const void* element, const UpdateStrip& strip) {
  update_all<T>(*static_cast<const Rule*>(element), strip);
}

template <class T, class Rule>
DDPKIT_TARGET_AVX512 void update_avx512(const void* element, const UpdateStrip& strip) {
  update_all<T>(*static_cast<const Rule*>(element), strip);
}

template <class T, class Rule>
Run update_of_this_machine() {
  switch (vector_width()) {
    case VectorWidth::avx512: return &update_avx512<T, Rule>;
    case VectorWidth::avx2: return &update_avx2<T, Rule>;
    case VectorWidth::basic: break;
  }
  return &update_basic<T, Rule>;
}

}  // namespace

template <class T>
void ElementUpdate::make_ready(const UpdateRule& rule) {
  with_element_rule<Real<T>>(rule, [&]<class Rule>(const Rule& element) {
    static_assert(sizeof(Rule) <= sizeof(element_) && std::is_trivially_copyable_v<Rule>);
    new (element_.data()) Rule(element);
    run_ = update_of_this_machine<T, Rule>();
  });
}

ElementUpdate::ElementUpdate(const UpdateRule& rule, DType dtype) {
  switch (dtype) {
    case DType::float32: make_ready<float>(rule); break;
    case DType::float64: make_ready<double>(rule); break;
    case DType::float16: make_ready<Half>(rule); break;
    case DType::bfloat16: make_ready<BFloat16>(rule); break;
    default: throw UsageError(text("an optimizer cannot update ", name_of(dtype), " parameters; only floating point"));
  }
}

void update_elements(const UpdateRule& rule, DType dtype, const UpdateStrip& strip) {
  ElementUpdate(rule, dtype)(strip);
}

}  // namespace ddpkit
