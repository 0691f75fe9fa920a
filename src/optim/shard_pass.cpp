#include "optim/shard_pass.hpp"

#include <algorithm>
#include <cstring>

#include "base/write_through.hpp"
#include "comm/reduce_kernels.hpp"
#include "optim/block_squares.hpp"

namespace ddpkit {
namespace {

// So short that the processor reads ahead in all seven streams at once: pieces of 1024 took half as long again.
constexpr std::int64_t kPiece = 256;

/// Calls `use(gradient, first element, count)` for one piece after the other, combined.
template <class Use>
double for_pieces(const GradientCopies& gradient, const BlockPlace& block, const Use& use) {
  const std::size_t width = size_of(gradient.dtype);
  alignas(64) std::array<std::byte, kPiece * sizeof(double)> room;
  std::array<std::byte* const, 1> target{room.data()};
  std::array<const std::byte*, kMostCopies> pointers;  // on the stack: a steady step allocates nothing
  const std::span sources = std::span(pointers).first(gradient.copies.size());
  for (std::size_t i = 0; i < sources.size(); ++i) sources[i] = gradient.copies[i] + block.first;
  BlockSquares squares;
  for (std::int64_t first = 0; first < block.count; first += kPiece) {
    const std::int64_t count = std::min(kPiece, block.count - first);
    const std::byte* combined = sources.front();
    if (sources.size() > 1) {
      reduce_onto(sources, target, gradient.dtype, gradient.op, static_cast<std::size_t>(count));
      combined = room.data();
    }
    squares.add(combined, gradient.dtype, count);
    use(combined, first, count);
    for (const std::byte*& source : sources) source += static_cast<std::size_t>(count) * width;
  }
  return squares.sum();
}

}  // namespace

double square_block(const GradientCopies& gradient, const BlockPlace& block) {
  return for_pieces(gradient, block, [](const std::byte*, std::int64_t, std::int64_t) {});
}

double update_block(const UpdateRule& rule, const GradientCopies& gradient, const BlockPlace& block) {
  const std::size_t width = size_of(gradient.dtype);
  const ElementUpdate update(rule, gradient.dtype);
  alignas(64) std::array<std::byte, kPiece * sizeof(double)> updated;
  const double squares = for_pieces(gradient, block, [&](const std::byte* combined, std::int64_t first, std::int64_t count) {
    const std::size_t offset = static_cast<std::size_t>(first) * width;
    const std::size_t bytes = static_cast<std::size_t>(count) * width;
    UpdateStrip strip{.parameter = updated.data(), .gradient = combined, .count = count};
    for (std::size_t i = 0; i < block.moments.size(); ++i)
      if (block.moments[i] != nullptr) strip.moments[i] = block.moments[i] + offset;
    std::memcpy(updated.data(), block.parameter + offset, bytes);
    update(strip);
    write_through(block.parameter + offset, updated.data(), bytes);  // all ranks read it next
  });
  finish_writing_through();
  return squares;
}

}  // namespace ddpkit
