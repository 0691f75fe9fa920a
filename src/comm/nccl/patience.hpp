#pragma once

#include <chrono>

namespace ddpkit::nccl {

/// A limited wait for something that can only be asked for: `while (!ready()) if (!patience.pause()) give_up();`
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit, std::chrono::microseconds longest_pause = std::chrono::microseconds(50))
      : end_(std::chrono::steady_clock::now() + limit), longest_pause_(longest_pause) {}

  /// Lets others run for a moment, at first for very short ones. False once the limit has passed.
  [[nodiscard]] bool pause();

  /// What is left of the limit, at least zero.
  std::chrono::milliseconds left() const;

 private:
  std::chrono::steady_clock::time_point end_;
  std::chrono::microseconds longest_pause_;
  int pauses_ = 0;
};

}  // namespace ddpkit::nccl
