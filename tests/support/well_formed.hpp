#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace ddpkit::testing {

/// What keeps a document from being XML, "" when nothing does: elements that do not nest, attributes without quotes or given
/// twice, ampersands that begin no entity, more than one root. Comments and character data sections are not known.
class WellFormed {
 public:
  static std::string problem_of(std::string_view document) { return WellFormed(document).check(); }

 private:
  explicit WellFormed(std::string_view document) : rest_(document) {}

  std::string check() {
    while (!rest_.empty() && problem_.empty()) rest_.front() == '<' ? tag() : character();
    if (problem_.empty() && !open_.empty()) problem_ = "not closed: " + open_.back();
    if (problem_.empty() && roots_ != 1) problem_ = std::to_string(roots_) + " roots";
    return problem_;
  }

  void character() {
    if (rest_.front() == '&') {
      const std::string_view entity = rest_.substr(0, rest_.find(';') + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") problem_ = "a bare &";
    }
    if (open_.empty() && !std::isspace(static_cast<unsigned char>(rest_.front()))) problem_ = "text outside the root";
    rest_.remove_prefix(1);
  }

  void tag() {
    const std::size_t end = rest_.find('>');
    if (end == std::string_view::npos) return void(problem_ = "a bare <");
    std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (inside.starts_with('!')) return;
    if (inside.starts_with('/')) return close(inside.substr(1));
    const bool empty = inside.ends_with('/');
    if (empty) inside.remove_suffix(1);
    if (open_.empty()) ++roots_;
    const std::string name(inside.substr(0, inside.find_first_of(" \n")));
    attributes(inside.substr(name.size()));
    if (!empty) open_.push_back(name);
  }

  void close(std::string_view name) {
    if (open_.empty() || open_.back() != name) return void(problem_ = "closed but not open: " + std::string(name));
    open_.pop_back();
  }

  void attributes(std::string_view text) {
    std::vector<std::string_view> names;
    while (true) {
      text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
      if (text.empty()) return;
      const std::size_t equals = text.find("=\""), quote = text.find('"', equals + 2);
      if (equals == std::string_view::npos || quote == std::string_view::npos)
        return void(problem_ = "attribute: " + std::string(text));
      for (const std::string_view name : names)
        if (name == text.substr(0, equals)) problem_ = "given twice: " + std::string(name);
      names.push_back(text.substr(0, equals));
      if (text.substr(equals + 2, quote - equals - 2).find('<') != std::string_view::npos) problem_ = "< in an attribute";
      text.remove_prefix(quote + 1);
    }
  }

  std::string_view rest_;
  std::vector<std::string> open_;
  std::size_t roots_ = 0;
  std::string problem_;
};

}  // namespace ddpkit::testing
