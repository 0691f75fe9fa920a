#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ddpkit/checkpoint/manifest.hpp"
#include "ddpkit/checkpoint/named_bytes.hpp"
#include "ddpkit/checkpoint/standing.hpp"

namespace ddpkit {

/// What goes into one checkpoint. Bytes are borrowed until `CheckpointStore::save` returns.
struct CheckpointContent {
  /// Tensors that make one safetensors file.
  struct File {
    std::string name{};  ///< a plain file name, such as "model.safetensors"
    std::vector<NamedBytes> tensors{};
    std::map<std::string, std::string> metadata{};
  };

  std::int64_t step = 0;
  std::int64_t world_size = 1;
  Standing standing = Standing::ordinary;
  SavedPosition sampler{};
  std::map<std::string, std::string> values{};  ///< small state by name
  std::vector<File> files{};
};

}  // namespace ddpkit
