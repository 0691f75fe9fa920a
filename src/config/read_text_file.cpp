#include "config/read_text_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "config/yaml_tree.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

std::string read_text_file(const std::string& path, const char* what) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string content(kLargestRunFile + 1, '\0');  // one more than is accepted, so that an endless file ends
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad()) throw StorageError(text(path, ": ", what, " cannot be read: ", std::strerror(errno)));
  return content;
}

}  // namespace ddpkit
