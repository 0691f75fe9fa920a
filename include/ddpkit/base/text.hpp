#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace ddpkit {

/// All arguments streamed one after the other: `text("rank ", 3, " of ", 8)`.
template <class... Args>
std::string text(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return std::move(out).str();
}

/// The candidate with the smallest edit distance to `word`, or an empty view when none is near enough to be a typing error.
template <class Range>
std::string_view nearest_name(std::string_view word, const Range& candidates);

/// Number of single-character insertions, deletions, replacements and swaps of neighbours between `a` and `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

template <class Range>
std::string_view nearest_name(std::string_view word, const Range& candidates) {
  std::string_view best;
  std::size_t best_distance = word.size() / 3 + 2;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace ddpkit
