#pragma once

#include <chrono>
#include <functional>

namespace ddpkit {

/// Where the time comes from. Tests put in their own.
struct Clock {
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::function<std::chrono::system_clock::time_point()> wall = std::chrono::system_clock::now;
};

}  // namespace ddpkit
