#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddpkit {

/// Line and column, counted from 1; 0 where there is none.
struct Position {
  int line = 0;
  int column = 0;
};

/// A text that settings are read from: the file, or one override.
struct Source {
  enum class Kind { file, override };
  Kind kind = Kind::file;
  std::string name;  ///< the file's name, or the override as it was typed
  int order = 0;     ///< problems are listed by source in this order, then by position

  /// Where an error is: "fashion.yaml:3:11", "--set batch.global=0".
  std::string place(Position at) const;
  /// Where a value came from: "fashion.yaml:3:11", "--set".
  std::string origin(Position at) const;
};

/// Collects everything that is wrong, to be told in one go.
class Problems {
 public:
  /// `path` may be empty when no key is concerned.
  void add(const Source& source, Position at, std::string_view path, std::string_view message);
  /// For values without a source text.
  void add(std::string_view place, std::string_view path, std::string_view message);

  /// Whether something is already wrong in the section (the first part) of `path`, or in no known section.
  bool in_section_of(std::string_view path) const;

  /// Whether there are as many as will be shown, so that hints for more are wasted.
  bool full() const;

  /// Throws one ConfigError with a line per problem; returns when there is none.
  void throw_if_any() const;

 private:
  struct Problem {
    int order;
    Position at;
    std::string path;
    std::string line;
  };
  std::vector<Problem> problems_;
};

}  // namespace ddpkit
