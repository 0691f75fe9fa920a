#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/problems.hpp"

namespace ddpkit {

/// Bytes that a run file may have.
inline constexpr std::size_t kLargestRunFile = 1 << 20;

struct YamlEntry;

/// A piece of a run file as it was written, with its place.
struct YamlNode {
  enum class Kind {
    null,      ///< nothing, `~` or `null`
    scalar,    ///< one value, kept as text
    sequence,  ///< a list
    map,       ///< keys and values in the order of the file, each key once
    refused,   ///< was ambiguous and has been reported: readers pass it over
  };
  enum class Quotes { none, present };

  Kind kind = Kind::null;
  Position at = {};
  std::string text = {};                ///< of a scalar
  Quotes quotes = Quotes::none;         ///< of a scalar; block scalars count as quoted
  std::vector<YamlNode> items = {};     ///< of a sequence
  std::vector<YamlEntry> entries = {};  ///< of a map
};

struct YamlEntry {
  std::string key = {};
  Position key_at = {};
  YamlNode value = {};
};

/// Reads one document. What two readers could understand differently is a problem: duplicate keys, a second document, anchors,
/// aliases, merge keys, tags, keys that are not plain text, tabs in the indentation, control characters; likewise more than
/// 1 MiB and nesting deeper than 32. Never throws for bad input: the result is then partial and `problems` says why.
YamlNode read_yaml(std::string_view text, const Source& source, Problems& problems);

}  // namespace ddpkit
