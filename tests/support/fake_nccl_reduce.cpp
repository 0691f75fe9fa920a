#include "support/fake_nccl_reduce.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit::testing {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
T combine(T a, T b, ncclRedOp_t op) {
  if (op == ncclMin) return std::min(a, b);
  if (op == ncclMax) return std::max(a, b);
  return static_cast<T>(a + b);
}

// Narrow types in float32, rounded once: kinder than NCCL, which may round at every addition.
template <class T, class Wide, class Load, class Store>
void reduce(const std::vector<Bytes>& inputs, Bytes& result, std::size_t count, ncclRedOp_t op, Load load, Store store) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto element = [&](const Bytes& input) {
      T value;
      std::memcpy(&value, input.data() + i * sizeof(T), sizeof(T));
      return static_cast<Wide>(load(value));
    };
    Wide sum = element(inputs[0]);
    for (std::size_t rank = 1; rank < inputs.size(); ++rank) sum = combine<Wide>(sum, element(inputs[rank]), op);
    if (op == ncclAvg) sum = static_cast<Wide>(sum / static_cast<Wide>(inputs.size()));
    const T value = store(sum);
    std::memcpy(result.data() + i * sizeof(T), &value, sizeof(T));
  }
}

template <class T>
void reduce_plain(const std::vector<Bytes>& inputs, Bytes& result, std::size_t count, ncclRedOp_t op) {
  reduce<T, T>(
      inputs, result, count, op, [](T value) { return value; }, [](T value) { return value; });
}

void reduce(const std::vector<Bytes>& inputs, Bytes& result, std::size_t count, ncclDataType_t type, ncclRedOp_t op) {
  switch (type) {
    case ncclUint8: return reduce_plain<std::uint8_t>(inputs, result, count, op);
    case ncclInt32: return reduce_plain<std::int32_t>(inputs, result, count, op);
    case ncclInt64: return reduce_plain<std::int64_t>(inputs, result, count, op);
    case ncclFloat32: return reduce_plain<float>(inputs, result, count, op);
    case ncclFloat64: return reduce_plain<double>(inputs, result, count, op);
    case ncclFloat16:
      return reduce<Half, float>(
          inputs, result, count, op, [](Half value) { return to_float(value); }, [](float value) { return to_half(value); });
    case ncclBfloat16:
      return reduce<BFloat16, float>(
          inputs, result, count, op, [](BFloat16 value) { return to_float(value); },
          [](float value) { return to_bfloat16(value); });
    default: std::abort();
  }
}

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclFloat32: return 4;
    default: return 8;
  }
}

std::vector<std::byte> reduce(const std::vector<std::vector<std::byte>>& inputs, std::size_t count, ncclDataType_t type,
                              ncclRedOp_t op) {
  Bytes result(count * size_of(type));
  reduce(inputs, result, count, type, op);
  return result;
}

}  // namespace ddpkit::testing
