#include "checkpoint/stream_safetensors.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <vector>

#include "checkpoint/safetensors_header.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors holds little-endian numbers");

/// Python's writer puts types in this order, wide ones first, so that every tensor is aligned to its element.
int place_of(DType dtype) {
  switch (dtype) {
    case DType::int64: return 0;
    case DType::float64: return 1;
    case DType::float32: return 2;
    case DType::int32: return 3;
    case DType::bfloat16: return 4;
    case DType::float16: return 5;
    case DType::uint8: return 6;
  }
  return 7;
}

void check(const NamedBytes& tensor) {
  const std::string where = text("tensor \"", tensor.name, "\"");
  if (tensor.name == "__metadata__") throw UsageError("a tensor cannot be named __metadata__ in a safetensors file");
  const std::uint64_t expected = tensor_bytes(tensor.shape, tensor.dtype, where);
  if (tensor.bytes.size() != expected)
    throw UsageError(text(where, ": shape and dtype need ", expected, " bytes, got ", tensor.bytes.size()));
}

std::vector<const NamedBytes*> in_file_order(std::span<const NamedBytes> tensors) {
  std::vector<const NamedBytes*> order;
  for (const NamedBytes& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, [](const NamedBytes* a, const NamedBytes* b) {
    return place_of(a->dtype) != place_of(b->dtype) ? place_of(a->dtype) < place_of(b->dtype) : a->name < b->name;
  });
  return order;
}

void check_names_differ(std::span<const NamedBytes> tensors) {
  std::vector<std::string_view> names;
  for (const NamedBytes& tensor : tensors) names.push_back(tensor.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) throw UsageError(text("tensor \"", *twice, "\" is given twice for one safetensors file"));
}

std::string header_of(std::span<const NamedBytes* const> order, const std::map<std::string, std::string>& metadata) {
  try {
    return format_safetensors_header(order, metadata);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(text("a name or metadata for a safetensors file is not UTF-8: ", error.what()));
  }
}

}  // namespace

void stream_safetensors(OutputFile& out, std::span<const NamedBytes> tensors,
                        const std::map<std::string, std::string>& metadata) {
  for (const NamedBytes& tensor : tensors) check(tensor);
  check_names_differ(tensors);
  const std::vector<const NamedBytes*> order = in_file_order(tensors);
  const std::string header = header_of(order, metadata);
  if (header.size() > kSafetensorsMaxHeader)
    throw UsageError(text("the header of a safetensors file would take ", header.size(), " bytes, the format allows ",
                          kSafetensorsMaxHeader, "; shorten names or metadata"));
  const std::uint64_t length = header.size();
  out.write(std::as_bytes(std::span(&length, 1)));
  out.write(header);
  for (const NamedBytes* tensor : order) out.write(tensor->bytes);
}

}  // namespace ddpkit
