#pragma once

#include <chrono>

#include "ddpkit/observe/clock.hpp"

namespace ddpkit::testing {

/// A clock that stands still until a test moves it. Must outlive what it was given to.
class FakeClock {
 public:
  void advance(std::chrono::milliseconds by) { passed_ += by; }

  Clock clock() {
    return {.now = [this] { return std::chrono::steady_clock::time_point(passed_); },
            .wall = [this] { return start() + passed_; }};
  }

  /// 2026-11-30 14:27:03.250 UTC.
  static std::chrono::system_clock::time_point start() {
    return std::chrono::system_clock::time_point(std::chrono::milliseconds(1796048823250));
  }

 private:
  std::chrono::milliseconds passed_{0};
};

}  // namespace ddpkit::testing
