#include "checkpoint/plain_name.hpp"

#include "ddpkit/checkpoint/manifest.hpp"

namespace ddpkit {

bool is_plain_name(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  constexpr std::size_t kLongest = 255;
  return !name.empty() && name.size() <= kLongest && name.front() != '.' && name != Manifest::kFileName &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace ddpkit
