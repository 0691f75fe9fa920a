#include "testing/reduce_in_order.hpp"

#include <algorithm>
#include <type_traits>

#include "comm/element.hpp"

namespace ddpkit::testing {
namespace {

template <class T>
T combine(T a, T b, ReduceOp op) {
  switch (op) {
    case ReduceOp::min: return std::min(a, b);
    case ReduceOp::max: return std::max(a, b);
    case ReduceOp::sum:
    case ReduceOp::mean: break;
  }
  return static_cast<T>(a + b);
}

template <class T>
void combine_into(std::vector<std::byte>& sum, const std::vector<std::byte>& next, ReduceOp op) {
  if constexpr (std::is_arithmetic_v<T>) {
    auto* into = reinterpret_cast<T*>(sum.data());
    const auto* from = reinterpret_cast<const T*>(next.data());
    for (std::size_t i = 0; i < sum.size() / sizeof(T); ++i) into[i] = combine(into[i], from[i], op);
  }
}

}  // namespace

std::vector<std::byte> reduce_in_order(std::span<const ConstBuffer> inputs, ReduceOp op) {
  const DType dtype = inputs.front().dtype;
  const std::size_t count = inputs.front().count;
  const DType wide = sum_type(dtype);
  std::vector<std::byte> sum(count * size_of(wide));
  std::vector<std::byte> next(sum.size());
  widen(inputs.front().data, dtype, count, sum.data());
  for (const ConstBuffer& input : inputs.subspan(1)) {
    widen(input.data, dtype, count, next.data());
    with_element(wide, [&]<class T>() { combine_into<T>(sum, next, op); });
  }
  if (op == ReduceOp::mean) divide(sum.data(), wide, count, static_cast<int>(inputs.size()));
  std::vector<std::byte> result(count * size_of(dtype));
  narrow(sum.data(), dtype, count, result.data());
  return result;
}

}  // namespace ddpkit::testing
