#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ddpkit {

/// Where each value of a configuration was given: "default", "program", "fashion.yaml:3:11" or "--set".
/// Paths are written as in `--set`: "batch.global"; a field of a list's section is "optimizer.groups[0].match".
class Origins {
 public:
  /// The origin of a value, "default" when nobody gave it.
  std::string_view of(std::string_view path) const;

  /// Whether the program, the file or an override gave the value.
  bool given(std::string_view path) const;

  void set(const std::string& path, std::string origin);

  /// Drops what was recorded about the elements of a list, which is about to be replaced as a whole.
  void forget_elements(const std::string& list_path);

  /// Every value that was given, by path.
  const std::map<std::string, std::string, std::less<>>& all() const noexcept { return given_; }

 private:
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace ddpkit
