#include "ddpkit/observe/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "ddpkit/base/text.hpp"
#include "ddpkit/base/topology.hpp"

namespace ddpkit {
namespace {

constexpr int kUsualColumns = 80;

// A descriptor of a terminal, closed at the end unless it is standard error itself.
class Screen {
 public:
  explicit Screen(int descriptor) : descriptor_(descriptor) {}
  ~Screen() {
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  bool is_terminal() const { return descriptor_ >= 0 && ::isatty(descriptor_) == 1; }
  int columns() const {
    winsize size{};
    return ::ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
  }

 private:
  int descriptor_;
};

bool can_move_cursor() {
  const char* term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

std::shared_ptr<const Screen> screen_behind_standard_error() {
  auto own = std::make_shared<const Screen>(STDERR_FILENO);
  if (own->is_terminal() || !read_launch_environment().under_launcher) return own;
  const std::string launchers = text("/proc/", ::getppid(), "/fd/2");
  return std::make_shared<const Screen>(::open(launchers.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Terminal standard_error() {
  const auto screen = screen_behind_standard_error();
  const bool drawable = screen->is_terminal() && can_move_cursor();
  return {.kind = drawable ? Terminal::Kind::screen : Terminal::Kind::stream,
          .columns = [screen] { return screen->columns(); },
          .write = write_all};
}

}  // namespace ddpkit
