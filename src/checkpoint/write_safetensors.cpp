#include "ddpkit/checkpoint/write_safetensors.hpp"

#include "checkpoint/folder.hpp"
#include "checkpoint/stream_safetensors.hpp"

namespace ddpkit {

void write_safetensors(const std::filesystem::path& path, std::span<const NamedBytes> tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::filesystem::path target = std::filesystem::absolute(path);
  const std::filesystem::path temporary = hidden_sibling(target, "tmp");
  discard(temporary);
  try {
    OutputFile out(temporary);
    stream_safetensors(out, tensors, metadata);
    out.finish();
    publish(temporary, target);
  } catch (...) {
    discard(temporary);
    throw;
  }
}

}  // namespace ddpkit
