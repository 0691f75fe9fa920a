#pragma once

#include <string>
#include <string_view>

#include "ddpkit/base/text_table.hpp"
#include "ddpkit/observe/chart.hpp"

namespace ddpkit {

/// One self-contained HTML page: styles and pictures inside, no script, readable on a telephone and in print.
class HtmlPage {
 public:
  explicit HtmlPage(std::string title) : title_(std::move(title)) {}

  enum class Verdict { good, warning, bad };

  void heading(std::string_view heading);
  void paragraph(std::string_view paragraph);
  void verdict(Verdict verdict, std::string_view name, std::string_view figure, std::string_view sentence);
  void table(const TextTable& table);
  void chart(const Chart& chart);

  std::string str() const;

 private:
  std::string title_;
  std::string body_;
};

}  // namespace ddpkit
