#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

// Writes past the caches, for memory that other cores read. A line that another core has read must be taken back from it before
// it can be written, which is cheap between cores that share a cache and six times as dear between dies; a store past the
// caches takes nothing back, and costs the same everywhere (docs/decisions/0013-written-past-the-caches.md).

namespace ddpkit {

/// As memcpy. Others may read it, and be told that they may, after `finish_writing_through`.
inline void write_through(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t kLine = 64;
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(out) % kLine;
  if (bytes < 16 * kLine || bytes < head) {  // waiting for the stores to arrive costs more than a few lines do
    std::memcpy(out, in, bytes);
    return;
  }
  std::memcpy(out, in, head);
  std::size_t i = head;
  for (; i + kLine <= bytes; i += kLine)
    for (std::size_t part = 0; part < kLine; part += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i + part)));
  std::memcpy(out + i, in + i, bytes - i);
#else
  std::memcpy(to, from, bytes);
#endif
}

/// What this thread has written through is seen by all before what it writes after this.
inline void finish_writing_through() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace ddpkit
