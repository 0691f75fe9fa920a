#include "comm/reduce_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/narrow_float.hpp"
#include "base/vector_width.hpp"
#include "comm/element.hpp"

// Everything below is compiled once for each width of vectors, which takes that all of it is inlined.
#define DDPKIT_INLINE [[gnu::always_inline]] inline

namespace ddpkit {
namespace {

constexpr std::size_t kPiece = 2048;  // elements: the sum stays in the first cache while the ranks' pieces stream by

struct Task {
  std::span<const std::byte* const> sources;
  std::span<std::byte* const> targets;
  std::size_t count;
};

/// The type in which elements of T are combined.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
DDPKIT_INLINE Wide<T> load(const std::byte* from, std::size_t i) {
  T element;
  std::memcpy(&element, from + i * sizeof(T), sizeof(T));  // memory of a caller may begin anywhere
  if constexpr (std::is_same_v<T, Wide<T>>)
    return element;
  else
    return widened(element);
}

template <class T>
DDPKIT_INLINE void store(Wide<T> value, std::byte* to, std::size_t i) {
  T element;
  if constexpr (std::is_same_v<T, Wide<T>>)
    element = value;
  else
    element = narrowed<T>(value);
  std::memcpy(to + i * sizeof(T), &element, sizeof(T));
}

template <ReduceOp op, class W>
DDPKIT_INLINE W combined(W sum, W next) {
  if constexpr (op == ReduceOp::min) return std::min(sum, next);
  if constexpr (op == ReduceOp::max) return std::max(sum, next);
  return static_cast<W>(sum + next);
}

template <class T, ReduceOp op>
DDPKIT_INLINE void combine_piece(const Task& task, std::size_t offset, std::size_t count, Wide<T>* sum) {
  const std::size_t ranks = task.sources.size();
  const std::byte* a = task.sources[0] + offset;
  if (ranks == 1) {
    for (std::size_t i = 0; i < count; ++i) sum[i] = load<T>(a, i);
    return;
  }
  const std::byte* b = task.sources[1] + offset;
  for (std::size_t i = 0; i < count; ++i) sum[i] = combined<op>(load<T>(a, i), load<T>(b, i));
  for (std::size_t rank = 2; rank < ranks; ++rank) {
    const std::byte* next = task.sources[rank] + offset;
    for (std::size_t i = 0; i < count; ++i) sum[i] = combined<op>(sum[i], load<T>(next, i));
  }
}

template <class T, ReduceOp op>
DDPKIT_INLINE void reduce_piece(const Task& task, std::size_t offset, std::size_t count) {
  alignas(64) Wide<T> sum[kPiece];
  combine_piece<T, op>(task, offset, count, sum);
  if constexpr (op == ReduceOp::mean && std::is_floating_point_v<Wide<T>>) {
    const auto ranks = static_cast<Wide<T>>(task.sources.size());
    for (std::size_t i = 0; i < count; ++i) sum[i] /= ranks;
  }
  for (std::byte* target : task.targets) {
    std::byte* to = target + offset;
    for (std::size_t i = 0; i < count; ++i) store<T>(sum[i], to, i);
  }
}

template <class T, ReduceOp op>
DDPKIT_INLINE void reduce_in_pieces(const Task& task) {
  for (std::size_t first = 0; first < task.count; first += kPiece)
    reduce_piece<T, op>(task, first * sizeof(T), std::min(kPiece, task.count - first));
}

template <class T, ReduceOp op>
void reduce_basic(const Task& task) {
  reduce_in_pieces<T, op>(task);
}

template <class T, ReduceOp op>
DDPKIT_TARGET_AVX2 void reduce_avx2(const Task& task) {
  reduce_in_pieces<T, op>(task);
}

template <class T, ReduceOp op>
DDPKIT_TARGET_AVX512 void reduce_avx512(const Task& task) {
  reduce_in_pieces<T, op>(task);
}

template <class T, ReduceOp op>
void reduce_widest(const Task& task) {
  switch (vector_width()) {
    case VectorWidth::basic: return reduce_basic<T, op>(task);
    case VectorWidth::avx2: return reduce_avx2<T, op>(task);
    case VectorWidth::avx512: return reduce_avx512<T, op>(task);
  }
}

}  // namespace

void reduce_onto(std::span<const std::byte* const> sources, std::span<std::byte* const> targets, DType dtype, ReduceOp op,
                 std::size_t count) {
  with_element(dtype, [&]<class T>() {
    const Task task{sources, targets, count};
    switch (op) {
      case ReduceOp::sum: return reduce_widest<T, ReduceOp::sum>(task);
      case ReduceOp::mean: return reduce_widest<T, ReduceOp::mean>(task);
      case ReduceOp::min: return reduce_widest<T, ReduceOp::min>(task);
      case ReduceOp::max: return reduce_widest<T, ReduceOp::max>(task);
    }
  });
}

}  // namespace ddpkit
