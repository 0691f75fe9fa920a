#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/data/dataset.hpp"
#include "ddpkit/data/host_array.hpp"

namespace ddpkit {

/// How a stored value is handed out.
enum class Rescale {
  none,  ///< as it is
  unit,  ///< uint8 becomes float32 in [0, 1]: value / 255
};

/// One field of every sample, stored as one array whose first dimension is the samples.
struct Column {
  HostArray array;
  Rescale rescale = Rescale::none;
};

/// Samples that lie in memory. Shares the bytes of the arrays it is given; nobody may change them while it lives.
class InMemoryDataset final : public Dataset {
 public:
  /// Throws DataError when there is no column or when columns differ in their number of samples.
  explicit InMemoryDataset(std::vector<Column> columns, std::string origin = "memory");

  std::int64_t size() const override { return size_; }
  std::span<const FieldSpec> fields() const override { return fields_; }
  void gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const override;
  std::string origin() const override { return origin_; }

  std::span<const Column> columns() const noexcept { return columns_; }

 private:
  std::vector<Column> columns_;
  std::vector<FieldSpec> fields_;
  std::int64_t size_;
  std::string origin_;
};

}  // namespace ddpkit
