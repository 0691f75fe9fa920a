#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/checkpoint/named_bytes.hpp"
#include "ddpkit/checkpoint/safetensors_file.hpp"
#include "ddpkit/tensor/named_tensor.hpp"

// Tensors to and from files, under their own names, so that a Python state_dict and named_parameters() plus named_buffers()
// meet:
//
//   copy_into(weights_of_model, load_tensors("resnet18.safetensors"), Match::strict, "resnet18.safetensors");

namespace ddpkit {

/// Writes tensors of any device and any strides, row-major. The file appears complete and synced or not at all. Throws
/// UsageError that names a tensor whose type files cannot hold (complex, int8, int16) or whose name is repeated,
/// StorageError when the disk refuses.
void save_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                  const std::map<std::string, std::string>& metadata = {});

/// All tensors of a safetensors file: own memory, CPU, contiguous, in the order of the file. Throws as SafetensorsFile does.
std::vector<NamedTensor> load_tensors(const std::filesystem::path& path);

/// The same for a file that is open already.
std::vector<NamedTensor> tensors_in(const SafetensorsFile& file);

/// The tensors as contiguous CPU tensors without gradient history; those that are so already are shared, the others copied.
/// Truth values become uint8, as files hold them; `copy_into` turns them back.
std::vector<NamedTensor> on_host(std::span<const NamedTensor> tensors);

/// Contiguous CPU tensors as a checkpoint takes them. Borrows their memory. Throws UsageError as save_tensors does.
std::vector<NamedBytes> as_named_bytes(std::span<const NamedTensor> host_tensors);

}  // namespace ddpkit
