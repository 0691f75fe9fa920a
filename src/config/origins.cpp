#include "ddpkit/config/origins.hpp"

#include <utility>

namespace ddpkit {

std::string_view Origins::of(std::string_view path) const {
  const auto found = given_.find(path);
  return found == given_.end() ? std::string_view("default") : std::string_view(found->second);
}

bool Origins::given(std::string_view path) const {
  return given_.contains(path);
}

void Origins::set(const std::string& path, std::string origin) {
  given_.insert_or_assign(path, std::move(origin));
}

void Origins::forget_elements(const std::string& list_path) {
  std::erase_if(given_, [prefix = list_path + "["](const auto& entry) { return entry.first.starts_with(prefix); });
}

}  // namespace ddpkit
