#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

/// A dense array on the host, row-major; its first dimension is the rows of a batch. Copies share the bytes.
struct HostArray {
  std::string name;  ///< "input", "target", or what the data set calls it
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::shared_ptr<std::byte[]> bytes;  ///< size_of(dtype) x product of shape; aligned to 64

  std::int64_t elements() const noexcept;
  std::size_t size_bytes() const noexcept { return static_cast<std::size_t>(elements()) * size_of(dtype); }

  /// The elements, typed. `T` must be the array's dtype: UsageError otherwise.
  template <Element T>
  std::span<T> values() const {
    require_dtype(dtype_of<T>);
    return {reinterpret_cast<T*>(bytes.get()), static_cast<std::size_t>(elements())};
  }

 private:
  void require_dtype(DType wanted) const;
};

/// Memory aligned to 64 bytes, not initialised.
std::shared_ptr<std::byte[]> allocate_aligned(std::size_t bytes);

/// An array with memory of its own, not initialised. Throws DataError when the shape is negative or its size overflows.
HostArray make_array(std::string name, DType dtype, std::vector<std::int64_t> shape);

}  // namespace ddpkit
