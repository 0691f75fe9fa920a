#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/estimate.hpp"
#include "harness/machine.hpp"

namespace bench {

/// What a figure should reach.
struct Target {
  enum class Bound { at_least, at_most, exactly };
  Bound bound = Bound::at_most;
  double value = 0;
};

constexpr Target at_least(double value) {
  return {Target::Bound::at_least, value};
}
constexpr Target at_most(double value) {
  return {Target::Bound::at_most, value};
}
constexpr Target exactly(double value) {
  return {Target::Bound::exactly, value};
}

bool reaches(double value, const Target& target);

/// What nobody could better, measured in the same run and against the same rival as the row it belongs to.
struct Floor {
  double value = 0;
  std::string what;
};

/// One row of the table in docs/performance.md.
struct Row {
  std::string id;
  std::string what;
  std::string against;
  Target target;
  std::string unit{};                  ///< of the figure; empty for a ratio
  std::optional<Estimate> measured{};  ///< none: skipped, for the reason in `note`
  std::string note{};
  std::optional<Floor> floor{};  ///< a target beyond it is out of reach, and a gate asks for no more than the floor
};

/// What one program found, on rank 0: rows for people and, on request, everything for programs.
class Report {
 public:
  Report(std::string program, int ranks, Facts facts);

  void add(Row row);
  /// Keeps seconds per iteration of all variants of a case, for the JSON.
  void keep(const std::string& title, std::map<std::string, std::vector<double>> seconds);

  void print() const;
  /// Throws StorageError when the file cannot be written.
  void write_json(const std::string& file) const;

 private:
  std::string program_;
  int ranks_;
  Facts facts_;
  std::vector<Row> rows_;
  std::map<std::string, std::map<std::string, std::vector<double>>> samples_;
};

}  // namespace bench
