#pragma once

#include <cstdint>
#include <iterator>
#include <optional>

#include "ddpkit/data/window.hpp"

namespace ddpkit {

class Loader;

/// Takes a stated number of windows from a loader, one at a time. The loader must outlive it.
class WindowIterator {
 public:
  WindowIterator(Loader& loader, std::int64_t count);

  Window& operator*() noexcept { return *current_; }
  WindowIterator& operator++();
  friend bool operator==(const WindowIterator& it, std::default_sentinel_t) noexcept { return !it.current_; }

 private:
  Loader* loader_;
  std::int64_t left_;
  std::optional<Window> current_;
};

}  // namespace ddpkit
