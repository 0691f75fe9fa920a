#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ddpkit {

/// Rows of cells in columns that fit: for terminals and logs. Widths are counted in characters of UTF-8.
class TextTable {
 public:
  enum class Align { left, right };

  struct Column {
    std::string title;
    Align align = Align::right;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column; throws UsageError otherwise.
  void add(std::vector<std::string> cells);

  const std::vector<Column>& columns() const noexcept { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const noexcept { return rows_; }

  /// Title line and rows, two spaces between columns, without trailing spaces and without a last newline.
  std::string str() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ddpkit
