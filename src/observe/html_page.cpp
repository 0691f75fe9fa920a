#include "ddpkit/observe/html_page.hpp"

#include "ddpkit/base/text.hpp"
#include "observe/svg.hpp"

namespace ddpkit {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; }
body { margin: 0; background: #f3f4f6; color: #22262a; font: 16px/1.5 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
main { max-width: 720px; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
p { margin: 0.5rem 0; }
svg.dk-chart { display: block; max-width: 100%; height: auto; margin: 0.8rem 0; }
.verdict { display: grid; grid-template-columns: 4.2rem 6.8rem 5.6rem 1fr; gap: 0.1rem 0.8rem; align-items: baseline;
  background: #fff; border-left: 0.4rem solid #596069; border-radius: 0.3rem; padding: 0.6rem 0.9rem; margin: 0.4rem 0; }
.verdict .word { font-weight: 700; } .verdict .name { font-weight: 600; } .verdict .figure { font-variant-numeric: tabular-nums; }
.good { border-color: #00795a; } .good .word { color: #00795a; }
.warning { border-color: #a86400; } .warning .word { color: #935800; }
.bad { border-color: #c0392b; } .bad .word { color: #c0392b; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5rem 0; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.8rem 0.25rem 0; text-align: left; white-space: nowrap; }
td { border-top: 1px solid #8884; } .right { text-align: right; }
@media (max-width: 40rem) { .verdict { grid-template-columns: 4.2rem 1fr 1fr; } .verdict .sentence { grid-column: 1 / -1; } }
@media (prefers-color-scheme: dark) { body { background: #0e1013; color: #e4e6e8; } .verdict { background: #1b1f24; }
  .good .word { color: #2fd0a2; } .warning .word { color: #f0b040; } .bad .word { color: #ff8a7a; } }
@media print { body { background: #fff; } main { max-width: none; padding: 0; } .verdict, svg { break-inside: avoid; } }
)";

// A number and its % stay on one line.
std::string html_text(std::string_view content) {
  std::string out = xml_text(content);
  for (std::size_t at = out.find(" %"); at != std::string::npos; at = out.find(" %", at)) out.replace(at, 1, "\u00a0");
  return out;
}

std::string element(std::string_view tag, std::string_view content) {
  return text('<', tag, '>', html_text(content), "</", tag, ">\n");
}

std::string span(std::string_view style, std::string_view content) {
  return text("<span class=\"", style, "\">", html_text(content), "</span>");
}

struct VerdictStyle {
  std::string_view style;
  std::string_view word;
};

VerdictStyle style_of(HtmlPage::Verdict verdict) {
  switch (verdict) {
    case HtmlPage::Verdict::good: return {"good", "✓ good"};
    case HtmlPage::Verdict::warning: return {"warning", "! look"};
    case HtmlPage::Verdict::bad: return {"bad", "✗ bad"};
  }
  return {};
}

std::string cell(std::string_view tag, TextTable::Align align, std::string_view content) {
  const std::string_view style = align == TextTable::Align::right ? " class=\"right\"" : "";
  return text('<', tag, style, '>', xml_text(content), "</", tag, '>');
}

}  // namespace

void HtmlPage::heading(std::string_view heading) {
  body_ += element("h2", heading);
}

void HtmlPage::paragraph(std::string_view paragraph) {
  body_ += element("p", paragraph);
}

void HtmlPage::verdict(Verdict verdict, std::string_view name, std::string_view figure, std::string_view sentence) {
  const VerdictStyle style = style_of(verdict);
  body_ += text("<div class=\"verdict ", style.style, "\">", span("word", style.word), span("name", name),
                span("figure", figure), span("sentence", sentence), "</div>\n");
}

void HtmlPage::table(const TextTable& table) {
  body_ += "<div class=\"wide\"><table>\n<tr>";
  for (const TextTable::Column& column : table.columns()) body_ += cell("th", column.align, column.title);
  body_ += "</tr>\n";
  for (const auto& row : table.rows()) {
    body_ += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) body_ += cell("td", table.columns()[c].align, row[c]);
    body_ += "</tr>\n";
  }
  body_ += "</table></div>\n";
}

void HtmlPage::chart(const Chart& chart) {
  body_ += to_svg(chart);
}

// Written so that XML parsers read it as well.
std::string HtmlPage::str() const {
  return text("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n",
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n", element("title", title_),
              "<style>", kStyle, "</style>\n</head>\n<body>\n<main>\n", element("h1", title_), body_,
              "</main>\n</body>\n</html>\n");
}

}  // namespace ddpkit
