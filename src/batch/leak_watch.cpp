#include "ddpkit/batch/leak_watch.hpp"

namespace ddpkit {

void LeakWatch::observe(std::int64_t live_bytes) noexcept {
  const bool grew = steps_ >= 0 && live_bytes > last_;
  if (!grew) floor_ = live_bytes;
  steps_ = grew ? steps_ + 1 : 0;
  last_ = live_bytes;
}

}  // namespace ddpkit
