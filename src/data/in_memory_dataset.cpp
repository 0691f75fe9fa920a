#include "ddpkit/data/in_memory_dataset.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

FieldSpec field_of(const Column& column, const std::string& origin) {
  const HostArray& array = column.array;
  if (array.shape.empty()) throw DataError(text(origin, ": array '", array.name, "' has no dimension of samples"));
  if (column.rescale == Rescale::unit && array.dtype != DType::uint8)
    throw UsageError(
        text(origin, ": only uint8 can be scaled to the unit interval, '", array.name, "' is ", name_of(array.dtype)));
  const DType delivered = column.rescale == Rescale::unit ? DType::float32 : array.dtype;
  return {array.name, delivered, {array.shape.begin() + 1, array.shape.end()}};
}

std::int64_t common_size(const std::vector<Column>& columns, const std::string& origin) {
  if (columns.empty()) throw DataError(origin + ": a data set needs at least one array");
  const HostArray& first = columns.front().array;
  for (const Column& column : columns) {
    if (column.array.shape[0] == first.shape[0]) continue;
    throw DataError(text(origin, ": '", column.array.name, "' has ", column.array.shape[0], " samples and '", first.name, "' ",
                         first.shape[0], "; do both files belong together?"));
  }
  return first.shape[0];
}

// Divided, not multiplied by 1/255, so that the values are those of other tools to the last bit.
constexpr auto kUnit = [] {
  std::array<float, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) table[byte] = static_cast<float>(byte) / 255.0F;
  return table;
}();

void gather_scaled(const HostArray& array, std::size_t values, std::span<const std::int64_t> ids, std::byte* out) {
  const auto* stored = reinterpret_cast<const std::uint8_t*>(array.bytes.get());
  auto* to = reinterpret_cast<float*>(out);
  for (const std::int64_t id : ids) {
    const std::uint8_t* from = stored + static_cast<std::size_t>(id) * values;
    to = std::transform(from, from + values, to, [](std::uint8_t byte) { return kUnit[byte]; });
  }
}

/// Samples lie anywhere, and only within one does the processor read ahead by itself.
void ask_for_beginning(const std::byte* sample, std::size_t bytes) {
  constexpr std::size_t kLine = 64, kBeginning = 8 * kLine;
  for (std::size_t at = 0; at < std::min(bytes, kBeginning); at += kLine) __builtin_prefetch(sample + at);
}

void gather_plain(const HostArray& array, std::size_t bytes, std::span<const std::int64_t> ids, std::byte* out) {
  constexpr std::size_t kAhead = 2;
  const auto sample = [&](std::size_t row) { return array.bytes.get() + static_cast<std::size_t>(ids[row]) * bytes; };
  for (std::size_t row = 0; row < ids.size(); ++row) {
    if (row + kAhead < ids.size()) ask_for_beginning(sample(row + kAhead), bytes);
    std::memcpy(out + row * bytes, sample(row), bytes);
  }
}

}  // namespace

InMemoryDataset::InMemoryDataset(std::vector<Column> columns, std::string origin)
    : columns_(std::move(columns)), origin_(std::move(origin)) {
  for (const Column& column : columns_) fields_.push_back(field_of(column, origin_));
  size_ = common_size(columns_, origin_);
}

void InMemoryDataset::gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const {
  for (const std::int64_t id : ids)
    if (id < 0 || id >= size_) throw DataError(text(origin_, ": there is no sample ", id, ", expected 0 to ", size_ - 1));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].rescale == Rescale::unit)
      gather_scaled(columns_[i].array, static_cast<std::size_t>(fields_[i].elements()), ids, out[i]);
    else
      gather_plain(columns_[i].array, fields_[i].sample_bytes(), ids, out[i]);
  }
}

}  // namespace ddpkit
