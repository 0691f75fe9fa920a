#include "checkpoint/folder.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "checkpoint/descriptor.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace fs = std::filesystem;

fs::path hidden_sibling(const fs::path& path, std::string_view what) {
  return path.parent_path() / text('.', path.filename().string(), '.', what, '-', ::getpid());
}

bool is_hidden_sibling(std::string_view file_name) {
  return file_name.starts_with('.') &&
         (file_name.find(".tmp-") != std::string_view::npos || file_name.find(".trash-") != std::string_view::npos);
}

void sync_folder(const fs::path& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() < 0) throw_errno("open", folder);
  // Some network file systems cannot sync a folder and say so with EINVAL; they do it by themselves.
  if (::fsync(opened.number()) != 0 && errno != EINVAL) throw_errno("sync", folder);
}

void publish(const fs::path& from, const fs::path& to) {
  if (fs::is_directory(from) && fs::is_directory(to)) {
    // A folder cannot be renamed onto one with files in it. Where the file system cannot swap two, the old one steps aside
    // first.
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
      sync_folder(to.parent_path());
      discard(from);
      return;
    }
    discard(to);
  }
  if (::rename(from.c_str(), to.c_str()) != 0) throw_errno("rename to", to);
  sync_folder(to.parent_path());
}

void discard(const fs::path& path) noexcept {
  try {
    std::error_code ignored;
    const bool hidden = is_hidden_sibling(path.filename().string());
    const fs::path trash = hidden ? path : hidden_sibling(path, "trash");
    if (!hidden) {
      fs::remove_all(trash, ignored);
      fs::rename(path, trash, ignored);
    }
    fs::remove_all(trash, ignored);
  } catch (...) {  // out of memory for a path: what is left over is removed by the next save
  }
}

}  // namespace ddpkit
