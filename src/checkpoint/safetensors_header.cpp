#include "checkpoint/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "checkpoint/strict_json.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

using nlohmann::json;

constexpr auto kTypeNames = std::to_array<std::pair<DType, std::string_view>>({{DType::float32, "F32"},
                                                                               {DType::float64, "F64"},
                                                                               {DType::float16, "F16"},
                                                                               {DType::bfloat16, "BF16"},
                                                                               {DType::int32, "I32"},
                                                                               {DType::int64, "I64"},
                                                                               {DType::uint8, "U8"}});

std::string_view type_name(DType dtype) {
  return std::ranges::find(kTypeNames, dtype, [](const auto& pair) { return pair.first; })->second;
}

[[noreturn]] void fail(const std::string& where, const std::string& problem) {
  throw StorageError(text(where, ": ", problem));
}

DType read_type(const json& value, const std::string& where) {
  if (!value.is_string()) fail(where, "dtype is not a string");
  const auto& name = value.get_ref<const std::string&>();
  for (const auto& [dtype, candidate] : kTypeNames)
    if (candidate == name) return dtype;
  if (name == "BOOL") return DType::uint8;  // Python writes truth values as one byte, 0 or 1
  fail(where, text("dtype \"", name, "\" is not supported, expected one of F64, F32, F16, BF16, I64, I32, U8, BOOL"));
}

std::uint64_t read_count(const json& value, const std::string& where, const char* what) {
  if (!value.is_number_unsigned()) fail(where, text(what, " holds ", value.dump(), ", expected a whole number from 0 on"));
  return value.get<std::uint64_t>();
}

std::vector<std::int64_t> read_shape(const json& value, const std::string& where) {
  if (!value.is_array()) fail(where, "shape is not a list");
  std::vector<std::int64_t> shape;
  for (const json& element : value) {
    const std::uint64_t extent = read_count(element, where, "shape");
    if (extent > std::numeric_limits<std::int64_t>::max()) fail(where, text("extent ", extent, " in its shape is too large"));
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  return shape;
}

SafetensorsHeader::Entry read_entry(const std::string& name, const json& value, const std::string& file) {
  const std::string where = text(file, ": tensor \"", name, "\"");
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets"))
    fail(where, "expected exactly dtype, shape and data_offsets");
  SafetensorsHeader::Entry entry{.name = name, .dtype = read_type(value["dtype"], where)};
  entry.shape = read_shape(value["shape"], where);
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2) fail(where, "data_offsets is not a pair");
  entry.begin = read_count(offsets[0], where, "data_offsets");
  entry.end = read_count(offsets[1], where, "data_offsets");
  if (entry.end < entry.begin) fail(where, text("ends at byte ", entry.end, ", before it begins at ", entry.begin));
  const std::uint64_t expected = tensor_bytes(entry.shape, entry.dtype, where);
  if (entry.end - entry.begin != expected)
    fail(where, text("shape and dtype need ", expected, " bytes, its offsets give ", entry.end - entry.begin));
  return entry;
}

std::map<std::string, std::string> read_metadata(const json& value, const std::string& where) {
  if (!value.is_object()) fail(where, "__metadata__ is not an object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, element] : value.items()) {
    if (!element.is_string()) fail(where, text("__metadata__ \"", key, "\" is not a string"));
    metadata.emplace(key, element.get<std::string>());
  }
  return metadata;
}

void check_contiguous(const std::vector<SafetensorsHeader::Entry>& entries, std::uint64_t data_bytes,
                      const std::string& where) {
  std::uint64_t position = 0;
  for (const auto& entry : entries) {
    if (entry.begin < position) fail(where, text("tensor \"", entry.name, "\" overlaps the one before it"));
    if (entry.begin > position)
      fail(where, text("bytes ", position, " to ", entry.begin, " before tensor \"", entry.name, "\" belong to no tensor"));
    position = entry.end;
  }
  if (position > data_bytes) fail(where, text("cut off: its tensors need ", position, " bytes, it holds ", data_bytes));
  if (position < data_bytes) fail(where, text(data_bytes - position, " bytes behind the last tensor belong to no tensor"));
}

}  // namespace

std::uint64_t tensor_bytes(const std::vector<std::int64_t>& shape, DType dtype, const std::string& where) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (extent < 0) fail(where, text("extent ", extent, " in its shape is negative"));
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) fail(where, "its size overflows 64 bits");
  }
  return bytes;
}

SafetensorsHeader parse_safetensors_header(std::string_view header, std::uint64_t data_bytes, const std::string& where) {
  if (!header.starts_with('{')) fail(where, "its header does not begin with {: not a safetensors file?");
  constexpr std::size_t kDepth = 3;
  const json root = parse_strict_json(header, kDepth, where);
  SafetensorsHeader result;
  for (const auto& [name, value] : root.items()) {
    if (name == "__metadata__")
      result.metadata = read_metadata(value, where);
    else
      result.entries.push_back(read_entry(name, value, where));
  }
  std::ranges::sort(result.entries, {}, [](const auto& entry) { return std::pair(entry.begin, entry.end); });
  check_contiguous(result.entries, data_bytes, where);
  return result;
}

std::string format_safetensors_header(std::span<const NamedBytes* const> tensors,
                                      const std::map<std::string, std::string>& metadata) {
  // Member by member: an ordered object looks through all its keys for each new one.
  std::string header = "{";
  if (!metadata.empty()) header += "\"__metadata__\":" + json(metadata).dump();
  std::uint64_t position = 0;
  for (const NamedBytes* tensor : tensors) {
    nlohmann::ordered_json entry;
    entry["dtype"] = type_name(tensor->dtype);
    entry["shape"] = tensor->shape;
    entry["data_offsets"] = {position, position + tensor->bytes.size()};
    if (header.size() > 1) header += ',';
    header += json(tensor->name).dump() + ':' + entry.dump();
    position += tensor->bytes.size();
  }
  header += '}';
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

}  // namespace ddpkit
