#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// One named value of every sample: "input", float32, {1, 28, 28}.
struct FieldSpec {
  std::string name;
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;  ///< of one sample, without the row dimension

  std::int64_t elements() const noexcept;
  std::size_t sample_bytes() const noexcept { return static_cast<std::size_t>(elements()) * size_of(dtype); }
};

/// A finite set of samples that can be read in any order. `gather` is thread-safe; the loader calls it from its own threads.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;

  /// What each sample consists of. Fixed for the life of the data set.
  virtual std::span<const FieldSpec> fields() const = 0;

  /// Copies the samples `ids` into row-major arrays, one pointer per field, in the order of `fields()`. Each has room for
  /// `ids.size()` samples. Throws DataError that names file and sample.
  virtual void gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const = 0;

  /// Where the samples come from, for messages: a path, or "memory".
  virtual std::string origin() const { return "data set"; }

  /// A number that is equal on two ranks exactly when they opened the same data (size, fields, and a sample of the content).
  virtual std::uint64_t fingerprint() const;
};

/// Reads the field "target" of every sample and throws DataError for the first label that is not in [0, classes). For int64,
/// int32 and uint8 targets; others are left alone.
void require_labels_below(const Dataset& dataset, std::int64_t classes);

}  // namespace ddpkit
