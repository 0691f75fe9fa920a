#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/input_file.hpp"

namespace ddpkit {

/// Cuts the text of a file into records of fields, after RFC 4180.
class CsvReader {
 public:
  /// Both must outlive the reader; `file` is asked to name itself in errors.
  CsvReader(std::string_view content, const InputFile& file) : rest_(content), file_(file) {}

  /// The next record that is not an empty line. False at the end.
  bool next(std::vector<std::string>& fields);

  /// Line on which the record began that was read last; the first is 1.
  std::int64_t line() const noexcept { return line_; }

 private:
  std::string quoted_field();
  std::string plain_field();
  bool ends_record();

  std::string_view rest_;
  const InputFile& file_;
  std::int64_t line_ = 0;
  std::int64_t next_line_ = 1;
};

}  // namespace ddpkit
