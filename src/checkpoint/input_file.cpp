#include "checkpoint/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

// O_NONBLOCK: opening a named pipe must not wait for a writer.
InputFile::InputFile(std::filesystem::path path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_.number() < 0) throw_errno("open", path_);
  struct stat status {};
  if (::fstat(file_.number(), &status) != 0) throw_errno("examine", path_);
  if (!S_ISREG(status.st_mode)) throw StorageError(text("cannot read ", path_.string(), ": it is not a regular file"));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

std::size_t InputFile::read(std::span<std::byte> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t count = ::read(file_.number(), buffer.data() + filled, buffer.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("read", path_);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

std::string read_text(const std::filesystem::path& path, std::uint64_t limit) {
  InputFile file(path);
  if (file.size() > limit)
    throw StorageError(text("cannot read ", path.string(), ": ", file.size(), " bytes, expected at most ", limit));
  std::string content(static_cast<std::size_t>(file.size()), '\0');
  content.resize(file.read(std::as_writable_bytes(std::span(content))));
  return content;
}

}  // namespace ddpkit
