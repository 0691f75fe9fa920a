#include "checkpoint/descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

std::string_view hint_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return "; free some space, or keep fewer checkpoints (checkpoint.keep)";
    case EFBIG: return "; a limit on file size is set (ulimit -f)";
    case EACCES:
    case EPERM:
    case EROFS: return "; is it writable for this user?";
    default: return "";
  }
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}

int Descriptor::release() noexcept {
  return std::exchange(number_, -1);
}

void throw_errno(std::string_view what, const std::filesystem::path& path) {
  const int error = errno;
  throw StorageError(text("cannot ", what, " ", path.string(), ": ", std::system_category().message(error), hint_for(error)));
}

}  // namespace ddpkit
