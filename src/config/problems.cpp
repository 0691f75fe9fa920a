#include "config/problems.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kShown = 50;

std::string_view section_of(std::string_view path) {
  return path.substr(0, path.find_first_of(".["));
}

std::string line_of(std::string_view place, std::string_view path, std::string_view message) {
  return path.empty() ? text(place, ": ", message) : text(place, ": ", path, ": ", message);
}

}  // namespace

std::string Source::place(Position at) const {
  if (kind == Kind::override) return "--set " + name;
  return at.line == 0 ? name : text(name, ':', at.line, ':', at.column);
}

std::string Source::origin(Position at) const {
  return kind == Kind::override ? "--set" : place(at);
}

void Problems::add(const Source& source, Position at, std::string_view path, std::string_view message) {
  problems_.push_back({source.order, at, std::string(path), line_of(source.place(at), path, message)});
}

void Problems::add(std::string_view place, std::string_view path, std::string_view message) {
  problems_.push_back({std::numeric_limits<int>::max(), {}, std::string(path), line_of(place, path, message)});
}

bool Problems::in_section_of(std::string_view path) const {
  return std::any_of(problems_.begin(), problems_.end(), [&](const Problem& problem) {
    return problem.path.empty() || section_of(problem.path) == section_of(path);
  });
}

bool Problems::full() const {
  return problems_.size() >= kShown;
}

void Problems::throw_if_any() const {
  if (problems_.empty()) return;
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.order, a.at.line, a.at.column) < std::tie(b.order, b.at.line, b.at.column);
  });
  std::string report;
  for (std::size_t i = 0; i < std::min(sorted.size(), kShown); ++i) {
    if (i > 0) report += '\n';
    report += sorted[i].line;
  }
  if (sorted.size() > kShown) report += text("\nand ", sorted.size() - kShown, " more");
  throw ConfigError(report);
}

}  // namespace ddpkit
