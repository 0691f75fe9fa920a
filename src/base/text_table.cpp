#include "ddpkit/base/text_table.hpp"

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

std::size_t width(std::string_view cell) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  return cell.size() - static_cast<std::size_t>(std::ranges::count_if(cell, continues));
}

void append_cell(std::string& line, std::string_view cell, std::size_t columns, TextTable::Align align) {
  const std::string padding(columns - width(cell), ' ');
  if (align == TextTable::Align::right) line += padding;
  line += cell;
  if (align == TextTable::Align::left) line += padding;
}

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw UsageError(text("TextTable::add: ", cells.size(), " cells for ", columns_.size(), " columns"));
  rows_.push_back(std::move(cells));
}

std::string TextTable::str() const {
  std::vector<std::string> lines(rows_.size() + 1);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = width(columns_[c].title);
    for (const auto& row : rows_) widest = std::max(widest, width(row[c]));
    if (c > 0)
      for (std::string& line : lines) line += "  ";
    append_cell(lines[0], columns_[c].title, widest, columns_[c].align);
    for (std::size_t r = 0; r < rows_.size(); ++r) append_cell(lines[r + 1], rows_[r][c], widest, columns_[c].align);
  }
  std::string all;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    all += (&line == lines.data() ? "" : "\n") + line;
  }
  return all;
}

}  // namespace ddpkit
