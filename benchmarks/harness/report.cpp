#include "harness/report.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/text_table.hpp"

namespace bench {
namespace {

using ddpkit::figure;
using ddpkit::text;
using Align = ddpkit::TextTable::Align;

const char* sign(Target::Bound bound) {
  switch (bound) {
    case Target::Bound::at_least: return ">=";
    case Target::Bound::at_most: return "<=";
    case Target::Bound::exactly: return "=";
  }
  return "?";
}

const char* verdict(const Row& row) {
  if (!row.measured) return "skipped";
  if (reaches(row.measured->value, row.target)) return "met";
  return row.floor && !reaches(row.floor->value, row.target) ? "out of reach" : "missed";
}

std::string with_interval(const Row& row) {
  if (!row.measured) return row.note;
  const std::string unit = row.unit.empty() ? "" : " " + row.unit;
  if (row.measured->low == row.measured->high) return figure(row.measured->value) + unit;
  return text(figure(row.measured->value), unit, " [", figure(row.measured->low), ", ", figure(row.measured->high), "]");
}

nlohmann::json json_of(const Row& row) {
  nlohmann::json out{{"id", row.id},
                     {"what", row.what},
                     {"against", row.against},
                     {"bound", sign(row.target.bound)},
                     {"target", row.target.value},
                     {"unit", row.unit},
                     {"verdict", verdict(row)},
                     {"note", row.note}};
  if (row.measured) out.update({{"value", row.measured->value}, {"low", row.measured->low}, {"high", row.measured->high}});
  if (row.floor) out.update({{"floor", row.floor->value}, {"floor is", row.floor->what}});
  return out;
}

}  // namespace

bool reaches(double value, const Target& target) {
  switch (target.bound) {
    case Target::Bound::at_least: return value >= target.value;
    case Target::Bound::at_most: return value <= target.value;
    case Target::Bound::exactly: return value == target.value;
  }
  return false;
}

Report::Report(std::string program, int ranks, Facts facts)
    : program_(std::move(program)), ranks_(ranks), facts_(std::move(facts)) {}

void Report::add(Row row) {
  rows_.push_back(std::move(row));
}

void Report::keep(const std::string& title, std::map<std::string, std::vector<double>> seconds) {
  samples_[title] = std::move(seconds);
}

void Report::print() const {
  for (const auto& [name, value] : facts_) std::printf("%-13s %s\n", name.c_str(), value.c_str());
  ddpkit::TextTable times({{"case", Align::left}, {"variant", Align::left}, {"median"}, {"best"}});
  for (const auto& [title, variants] : samples_)
    for (const auto& [name, seconds] : variants)
      times.add({title, name, ddpkit::seconds_figure(median(seconds)), ddpkit::seconds_figure(std::ranges::min(seconds))});
  ddpkit::TextTable table({{"id", Align::left},
                           {"what", Align::left},
                           {"against", Align::left},
                           {"target"},
                           {"measured [95 %]"},
                           {"floor"},
                           {"", Align::left}});
  for (const Row& row : rows_)
    table.add({row.id, row.what, row.against, text(sign(row.target.bound), " ", figure(row.target.value)), with_interval(row),
               row.floor ? figure(row.floor->value) : "", verdict(row)});
  std::printf("\n%s\n\n%s\n", times.str().c_str(), table.str().c_str());
}

void Report::write_json(const std::string& file) const {
  nlohmann::json out{{"program", program_}, {"ranks", ranks_}, {"seconds", samples_}};
  for (const auto& [name, value] : facts_) out["machine"][name] = value;
  for (const Row& row : rows_) out["rows"].push_back(json_of(row));
  std::ofstream stream(file);
  stream << out.dump(2) << '\n';
  if (!stream.flush()) throw ddpkit::StorageError(text("\"", file, "\" could not be written"));
}

}  // namespace bench
