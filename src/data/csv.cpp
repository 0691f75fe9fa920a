#include "ddpkit/data/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "data/csv_reader.hpp"
#include "data/input_file.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr double kExactInDouble = 0x1p53;

using Record = std::vector<std::string>;

struct Table {
  std::vector<float> inputs;
  std::vector<double> targets;
  bool whole_targets = true;
};

std::string_view trimmed(std::string_view field) {
  const std::size_t begin = std::min(field.find_first_not_of(" \t"), field.size());
  field.remove_prefix(begin);
  return field.substr(0, field.find_last_not_of(" \t") + 1);
}

std::string_view without_byte_order_mark(std::string_view content) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return content.starts_with(kMark) ? content.substr(kMark.size()) : content;
}

Record read_header(CsvReader& reader, const InputFile& file) {
  Record names;
  if (!reader.next(names)) file.fail("is empty, expected a header line");
  for (std::string& name : names) name = trimmed(name);
  return names;
}

std::size_t find_target(const Record& names, const std::string& target, const std::string& path) {
  const auto found = std::find(names.begin(), names.end(), target);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string_view nearest = nearest_name(target, names);
  const std::string hint =
      nearest.empty() ? text("; the first column is '", names.front(), "'") : text("; did you mean '", nearest, "'?");
  throw ConfigError(text("data.target: ", path, " has no column '", target, "'", hint));
}

class TableReader {
 public:
  TableReader(const InputFile& file, const std::string& content, const std::string& target)
      : file_(file),
        reader_(without_byte_order_mark(content), file),
        names_(read_header(reader_, file)),
        target_(find_target(names_, target, file.path())) {
    if (names_.size() < 2) file.fail("has one column, expected a target and at least one input");
  }

  std::int64_t inputs() const { return static_cast<std::int64_t>(names_.size()) - 1; }

  Table read() {
    Table table;
    for (Record record; reader_.next(record);) {
      if (record.size() != names_.size())
        file_.fail(
            text("line ", reader_.line(), ": ", record.size(), " fields, expected ", names_.size(), " as in the header"));
      for (std::size_t column = 0; column < record.size(); ++column) take(record[column], column, table);
    }
    return table;
  }

 private:
  void take(const std::string& field, std::size_t column, Table& table) const {
    const std::string_view digits = trimmed(field);
    if (column != target_) return table.inputs.push_back(static_cast<float>(number(digits, column)));
    const double value = number(digits, column);
    const bool whole = digits.find_first_of(".eE") == std::string_view::npos && std::abs(value) <= kExactInDouble;
    table.targets.push_back(value);
    table.whole_targets = table.whole_targets && whole;
  }

  double number(std::string_view digits, std::size_t column) const {
    const bool plus = digits.starts_with('+');
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data() + (plus ? 1 : 0), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size() && std::isfinite(value)) return value;
    file_.fail(text("line ", reader_.line(), ", column ", column + 1, " (", names_[column],
                    "): expected a finite number, got '", digits, "'"));
  }

  const InputFile& file_;
  CsvReader reader_;
  Record names_;
  std::size_t target_;
};

template <Element To, class From>
HostArray array_of(const std::string& name, std::vector<std::int64_t> shape, const std::vector<From>& values) {
  HostArray array = make_array(name, dtype_of<To>, std::move(shape));
  std::transform(values.begin(), values.end(), array.values<To>().begin(), [](From value) { return static_cast<To>(value); });
  return array;
}

}  // namespace

InMemoryDataset read_csv(const std::string& path, const std::string& target) {
  InputFile file(path);
  const std::string content = file.read_rest();
  TableReader reader(file, content, target);
  const Table table = reader.read();
  const auto rows = static_cast<std::int64_t>(table.targets.size());
  HostArray targets = table.whole_targets ? array_of<std::int64_t>("target", {rows}, table.targets)
                                          : array_of<float>("target", {rows}, table.targets);
  return InMemoryDataset({{array_of<float>("input", {rows, reader.inputs()}, table.inputs)}, {std::move(targets)}}, path);
}

}  // namespace ddpkit
