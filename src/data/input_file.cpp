#include "data/input_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kMaxDeflateRatio = 1032;  // of the format itself: https://zlib.net/zlib_tech.html
constexpr unsigned kBufferBytes = 256 << 10;

std::uintmax_t size_of_file(const std::string& path, const std::string& hint) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) throw DataError(text(path, ": no such file", hint));
  if (error) throw DataError(text(path, ": cannot be read: ", error.message()));
  if (!std::filesystem::is_regular_file(status)) throw DataError(text(path, ": is not a file"));
  return std::filesystem::file_size(path);
}

}  // namespace

void InputFile::Close::operator()(void* file) const noexcept {
  gzclose_r(static_cast<gzFile>(file));
}

InputFile::InputFile(std::string path, const std::string& hint)
    : path_(std::move(path)), size_on_disk_(size_of_file(path_, hint)), file_(gzopen(path_.c_str(), "rb")) {
  if (file_ == nullptr) fail(text("cannot be opened: ", std::strerror(errno)));
  gzbuffer(static_cast<gzFile>(file_.get()), kBufferBytes);
}

void InputFile::fail(const std::string& message) const {
  throw DataError(text(path_, ": ", message));
}

std::size_t InputFile::read_some(std::span<std::byte> out) {
  constexpr std::size_t kMost = 1 << 30;  // gzread counts in int
  const auto wanted = static_cast<unsigned>(std::min(out.size(), kMost));
  const int got = gzread(static_cast<gzFile>(file_.get()), out.data(), wanted);
  int code = Z_OK;
  const char* reason = gzerror(static_cast<gzFile>(file_.get()), &code);
  if (code == Z_BUF_ERROR) fail("is cut off: the compressed data ends too early; fetch the file again");
  if (code == Z_ERRNO) fail(text("cannot be read: ", std::strerror(errno)));
  if (got < 0 || code < 0) fail(text("is damaged: ", reason, "; fetch the file again"));
  return static_cast<std::size_t>(got);
}

void InputFile::read(std::span<std::byte> out, const std::string& what) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t got = read_some(out.subspan(done));
    if (got == 0) fail(text("is cut off: ", what, " takes ", out.size(), " bytes, the file ends after ", done, " of them"));
    done += got;
  }
}

void InputFile::expect_end() {
  std::byte more{};
  if (read_some({&more, 1}) != 0) fail("is longer than its header says");
}

std::string InputFile::read_rest() {
  std::string all;
  std::size_t done = 0;
  do {
    all.resize(std::max<std::size_t>(2 * done, 64 << 10));
    std::size_t got = 1;
    while (done < all.size() && got != 0) {
      got = read_some(std::as_writable_bytes(std::span(all)).subspan(done));
      done += got;
    }
  } while (done == all.size());
  all.resize(done);
  return all;
}

void InputFile::expect_room_for(std::size_t bytes) const {
  const bool packed = gzdirect(static_cast<gzFile>(file_.get())) == 0;
  const std::uintmax_t most = packed ? size_on_disk_ * kMaxDeflateRatio : size_on_disk_;
  if (bytes > most)
    fail(text("is cut off or has a wrong header: that promises ", bytes, " bytes, which a file of ", size_on_disk_,
              " cannot hold"));
}

}  // namespace ddpkit
