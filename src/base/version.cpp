#include "ddpkit/base/version.hpp"

namespace ddpkit {

std::string_view version() noexcept {
  return DDPKIT_VERSION;
}

}  // namespace ddpkit
