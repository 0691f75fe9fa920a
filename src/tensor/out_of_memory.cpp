#include "ddpkit/tensor/out_of_memory.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "ddpkit/base/error.hpp"

namespace ddpkit {
namespace {

constexpr std::array<std::string_view, 4> kSigns = {"out of memory", "no memory for", "can't allocate memory",
                                                    "not enough memory"};

bool shows_a_sign(std::string_view line) {
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return line.find(sign) != std::string_view::npos; });
}

/// The first line that speaks of memory, or else the first.
std::string_view telling_line(std::string_view what) {
  for (std::string_view rest = what; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (shows_a_sign(line)) return line;
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return what.substr(0, what.find('\n'));
}

std::string text_of(const std::exception& error) {
  // what() would make the backtrace readable first, which takes milliseconds.
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error)) return torch_error->what_without_backtrace();
  return error.what();
}

}  // namespace

std::optional<std::string> out_of_memory(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return std::nullopt;  // ours never stand for it
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "the system refused memory";
  const std::string what = text_of(error);
  const bool typed = dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr;
  if (!typed && !shows_a_sign(what)) return std::nullopt;
  return std::string(telling_line(what));
}

}  // namespace ddpkit
