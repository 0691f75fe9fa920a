#include "ddpkit/data/dataset.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/data/host_array.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kFingerprintSamples = 16;
constexpr std::int64_t kScannedAtOnce = 1024;

class Digest {
 public:
  void add(const void* data, std::size_t bytes) { value_ = XXH3_64bits_withSeed(data, bytes, value_); }
  void add(std::int64_t number) { add(&number, sizeof number); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

void add_fields(Digest& digest, std::span<const FieldSpec> fields) {
  for (const FieldSpec& field : fields) {
    digest.add(field.name.data(), field.name.size());
    digest.add(static_cast<std::int64_t>(field.dtype));
    for (const std::int64_t extent : field.shape) digest.add(extent);
    digest.add(static_cast<std::int64_t>(field.shape.size()));
  }
}

std::vector<HostArray> gather(const Dataset& dataset, std::span<const std::int64_t> ids) {
  std::vector<HostArray> arrays;
  std::vector<std::byte*> pointers;
  for (const FieldSpec& field : dataset.fields()) {
    std::vector<std::int64_t> shape = field.shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(ids.size()));
    arrays.push_back(make_array(field.name, field.dtype, shape));
    pointers.push_back(arrays.back().bytes.get());
  }
  dataset.gather(ids, pointers);
  return arrays;
}

std::vector<std::int64_t> spread_over(std::int64_t size) {
  const std::int64_t count = std::min(size, kFingerprintSamples);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(count == 1 ? 0 : i * ((size - 1) / (count - 1)));
  return ids;
}

std::int64_t label_at(const HostArray& labels, std::size_t row) {
  switch (labels.dtype) {
    case DType::int64: return labels.values<std::int64_t>()[row];
    case DType::int32: return labels.values<std::int32_t>()[row];
    default: return labels.values<std::uint8_t>()[row];
  }
}

bool has_labels(const FieldSpec& field) {
  return field.name == "target" && !is_floating(field.dtype) && field.elements() == 1;
}

void check_labels(const Dataset& dataset, const HostArray& labels, std::span<const std::int64_t> ids, std::int64_t classes) {
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const std::int64_t label = label_at(labels, row);
    if (label >= 0 && label < classes) continue;
    throw DataError(text(dataset.origin(), ": sample ", ids[row], " has label ", label, ", expected 0 to ", classes - 1,
                         "; does the model have as many outputs as the data has classes?"));
  }
}

}  // namespace

std::int64_t FieldSpec::elements() const noexcept {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::uint64_t Dataset::fingerprint() const {
  Digest digest;
  digest.add(size());
  add_fields(digest, fields());
  const std::vector<std::int64_t> ids = spread_over(size());
  if (ids.empty()) return digest.value();
  for (const HostArray& array : ddpkit::gather(*this, ids)) digest.add(array.bytes.get(), array.size_bytes());
  return digest.value();
}

void require_labels_below(const Dataset& dataset, std::int64_t classes) {
  const auto fields = dataset.fields();
  const auto field = std::find_if(fields.begin(), fields.end(), has_labels);
  if (field == fields.end()) return;
  const auto index = static_cast<std::size_t>(field - fields.begin());
  for (std::int64_t begin = 0; begin < dataset.size(); begin += kScannedAtOnce) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(std::min(kScannedAtOnce, dataset.size() - begin)));
    std::iota(ids.begin(), ids.end(), begin);
    check_labels(dataset, gather(dataset, ids)[index], ids, classes);
  }
}

}  // namespace ddpkit
