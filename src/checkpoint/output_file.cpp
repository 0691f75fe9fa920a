#include "checkpoint/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ddpkit {
namespace {

// Small enough to stay in the cache between digest and write.
constexpr std::size_t kPiece = std::size_t{1} << 20;

}  // namespace

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (file_.number() < 0) throw_errno("create", path_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.number(), bytes.data(), std::min(bytes.size(), kPiece));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("write", path_);
    const auto written = static_cast<std::size_t>(count);
    digest_.update(bytes.first(written));
    bytes = bytes.subspan(written);
    size_ += written;
  }
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void OutputFile::finish() {
  if (::fsync(file_.number()) != 0) throw_errno("sync", path_);
  // Network file systems report a full disk here at the latest.
  if (::close(file_.release()) != 0) throw_errno("close", path_);
}

}  // namespace ddpkit
