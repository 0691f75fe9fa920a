#pragma once

#include <cstdint>

namespace ddpkit {

/// Sees from live memory after each step whether something keeps what belongs to one step, such as losses with their graphs.
class LeakWatch {
 public:
  /// So many steps in a row have to have grown.
  static constexpr std::int64_t kSteps = 8;

  void observe(std::int64_t live_bytes) noexcept;

  /// Bytes since growth without a break began; 0 while that is less than kSteps steps.
  std::int64_t growth() const noexcept { return steps_ >= kSteps ? last_ - floor_ : 0; }

 private:
  std::int64_t floor_ = 0;
  std::int64_t last_ = 0;
  std::int64_t steps_ = -1;  // that grew in a row; -1 before the first
};

}  // namespace ddpkit
