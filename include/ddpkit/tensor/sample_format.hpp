#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/data/dataset.hpp"
#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// The names, types and shapes that all samples of a data set have which hands them out as tensors.
class SampleFormat {
 public:
  /// That of a first sample. Throws UsageError for element types that no batch can have.
  SampleFormat(std::span<const NamedTensor> sample, std::string origin);

  std::span<const FieldSpec> fields() const noexcept { return fields_; }
  const std::string& origin() const noexcept { return origin_; }

  /// Copies sample `id` into row `row` of the arrays that Dataset::gather was given. Thread-safe. Throws DataError that names
  /// the sample and the field when it is of another format.
  void write(std::span<const NamedTensor> sample, std::int64_t id, std::size_t row, std::span<std::byte* const> out) const;

 private:
  void require_equal(const NamedTensor& value, const FieldSpec& field, std::int64_t id) const;

  std::vector<FieldSpec> fields_;
  std::string origin_;
};

}  // namespace ddpkit
