#pragma once

#include <map>
#include <span>
#include <string>

#include "checkpoint/output_file.hpp"
#include "ddpkit/checkpoint/named_bytes.hpp"

namespace ddpkit {

/// Writes a whole safetensors file into `out`, which the caller finishes. Errors as `write_safetensors`.
void stream_safetensors(OutputFile& out, std::span<const NamedBytes> tensors,
                        const std::map<std::string, std::string>& metadata);

}  // namespace ddpkit
