#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace bench {

/// Adds one array to another, over and over: two reads and a write per element, which is how fast memory of this size can be
/// summed by anyone.
class AddRate {
 public:
  explicit AddRate(std::size_t bytes) : to_(bytes / sizeof(float)), from_(bytes / sizeof(float)) {}

  double seconds(int iterations);
  double bytes_moved() const { return 3.0 * static_cast<double>(to_.size * sizeof(float)); }  ///< per iteration

 private:
  static constexpr std::align_val_t kPage{4096};
  struct Free {
    void operator()(float* block) const { ::operator delete(block, kPage); }
  };
  struct Array {
    explicit Array(std::size_t count) : size(count), data(static_cast<float*>(::operator new(count * sizeof(float), kPage))) {
      std::fill_n(data.get(), count, 0.0F);
    }
    std::size_t size;
    std::unique_ptr<float, Free> data;
  };

  Array to_;
  Array from_;
};

}  // namespace bench
