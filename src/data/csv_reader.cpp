#include "data/csv_reader.hpp"

#include <algorithm>

#include "ddpkit/base/text.hpp"

namespace ddpkit {

bool CsvReader::next(std::vector<std::string>& fields) {
  while (!rest_.empty() && (rest_.front() == '\n' || rest_.front() == '\r')) ends_record();
  fields.clear();
  line_ = next_line_;
  if (rest_.empty()) return false;
  do fields.push_back(rest_.starts_with('"') ? quoted_field() : plain_field());
  while (!ends_record());
  return true;
}

std::string CsvReader::plain_field() {
  const std::size_t end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
  std::string field(rest_.substr(0, end));
  rest_.remove_prefix(end);
  return field;
}

std::string CsvReader::quoted_field() {
  std::string field;
  for (std::size_t i = 1; i < rest_.size(); ++i) {
    const bool quote = rest_[i] == '"';
    if (quote && (i + 1 == rest_.size() || rest_[i + 1] != '"')) {
      rest_.remove_prefix(i + 1);
      return field;
    }
    if (quote) ++i;  // a doubled quote stands for one
    next_line_ += rest_[i] == '\n' ? 1 : 0;
    field += rest_[i];
  }
  file_.fail(text("line ", line_, ": a quoted field is not closed"));
}

// Takes the comma, or the end of line, after a field.
bool CsvReader::ends_record() {
  if (rest_.empty()) return true;
  if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
  const char c = rest_.front();
  if (c != ',' && c != '\n' && c != '\r')
    file_.fail(text("line ", line_, ": expected a comma after a quoted field, got '", c, "'"));
  rest_.remove_prefix(1);
  if (c == ',') return false;
  ++next_line_;
  return true;
}

}  // namespace ddpkit
