#include "comm/reduce_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "comm/element.hpp"

// The widest vectors of the machine that runs it, chosen when the library is loaded.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define DDPKIT_WIDEST __attribute__((target_clones("default", "avx2", "avx512f"), optimize("O3")))
#else
#define DDPKIT_WIDEST
#endif

namespace ddpkit {
namespace {

constexpr std::size_t kPiece = 2048;  // elements: the sum stays in the first cache while the ranks' pieces stream by

DDPKIT_WIDEST void add(const float* __restrict from, float* __restrict sum, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += from[i];
}

DDPKIT_WIDEST void add(const double* __restrict from, double* __restrict sum, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += from[i];
}

DDPKIT_WIDEST void add_two(const float* a, const float* b, float* first, float* second, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float sum = a[i] + b[i];
    first[i] = sum;
    second[i] = sum;
  }
}

template <class T>
void add(const T* from, T* sum, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] = static_cast<T>(sum[i] + from[i]);
}

template <class T>
void combine(const T* from, T* sum, ReduceOp op, std::size_t count) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean: return add(from, sum, count);
    case ReduceOp::min:
      for (std::size_t i = 0; i < count; ++i) sum[i] = std::min(sum[i], from[i]);
      return;
    case ReduceOp::max:
      for (std::size_t i = 0; i < count; ++i) sum[i] = std::max(sum[i], from[i]);
      return;
  }
}

/// The type in which elements of T are added.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
const Wide<T>* widened(const std::byte* from, std::size_t count, Wide<T>* room) {
  if constexpr (std::is_same_v<T, Wide<T>>) return reinterpret_cast<const T*>(from);
  widen(from, dtype_of<T>, count, room);
  return room;
}

template <class T>
void reduce_piece(std::span<const std::byte* const> sources, std::span<std::byte* const> targets, ReduceOp op,
                  std::size_t first, std::size_t count) {
  const std::size_t offset = first * sizeof(T);
  alignas(64) std::array<Wide<T>, kPiece> sum;
  alignas(64) std::array<Wide<T>, kPiece> room;
  widen(sources[0] + offset, dtype_of<T>, count, sum.data());
  for (const std::byte* source : sources.subspan(1))
    combine(widened<T>(source + offset, count, room.data()), sum.data(), op, count);
  if (op == ReduceOp::mean) divide(sum.data(), dtype_of<Wide<T>>, count, static_cast<int>(sources.size()));
  for (std::byte* target : targets) narrow(sum.data(), dtype_of<T>, count, target + offset);
}

bool two_floats(std::span<const std::byte* const> sources, std::span<std::byte* const> targets, DType dtype, ReduceOp op) {
  return dtype == DType::float32 && op == ReduceOp::sum && sources.size() == 2 && targets.size() == 2;
}

}  // namespace

void reduce_onto(std::span<const std::byte* const> sources, std::span<std::byte* const> targets, DType dtype, ReduceOp op,
                 std::size_t count) {
  if (two_floats(sources, targets, dtype, op))  // one pass, without the detour
    return add_two(reinterpret_cast<const float*>(sources[0]), reinterpret_cast<const float*>(sources[1]),
                   reinterpret_cast<float*>(targets[0]), reinterpret_cast<float*>(targets[1]), count);
  with_element(dtype, [&]<class T>() {
    for (std::size_t first = 0; first < count; first += kPiece)
      reduce_piece<T>(sources, targets, op, first, std::min(kPiece, count - first));
  });
}

}  // namespace ddpkit
