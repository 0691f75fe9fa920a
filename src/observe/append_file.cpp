#include "observe/append_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

AppendFile::AppendFile(const std::filesystem::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail("open");
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0) size_ = status.st_size;
}

AppendFile::~AppendFile() {
  ::close(descriptor_);
}

void AppendFile::append(std::string_view bytes) {
  ssize_t written = -1;
  do written = ::write(descriptor_, bytes.data(), bytes.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(bytes.size())) {
    size_ += written;
    return;
  }
  const int reason = written < 0 ? errno : ENOSPC;
  if (written > 0 && ::ftruncate(descriptor_, size_) != 0) size_ += written;
  errno = reason;
  fail("write to");
}

void AppendFile::sync() {
  // Pipes and the like cannot be synchronised and need not be.
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail("flush");
}

void AppendFile::drop_torn_line() {
  const off_t end = end_of_last_line();
  if (end == size_) return;
  if (::ftruncate(descriptor_, end) != 0) fail("repair the last line of");
  size_ = end;
}

off_t AppendFile::end_of_last_line() const {
  char block[4096];
  for (off_t end = size_; end > 0;) {
    const auto length = static_cast<std::size_t>(std::min<off_t>(end, sizeof block));
    const off_t begin = end - static_cast<off_t>(length);
    const ssize_t got = ::pread(descriptor_, block, length, begin);
    if (got != static_cast<ssize_t>(length)) fail("read");
    const std::size_t line_end = std::string_view(block, length).rfind('\n');
    if (line_end != std::string_view::npos) return begin + static_cast<off_t>(line_end) + 1;
    end = begin;
  }
  return 0;
}

void AppendFile::fail(std::string_view what) const {
  throw StorageError(text("cannot ", what, ' ', path_.string(), ": ", std::strerror(errno)));
}

}  // namespace ddpkit
