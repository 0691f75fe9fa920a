#pragma once

#include <string>
#include <string_view>

namespace ddpkit {

/// Text for XML and HTML, in elements and attributes: control characters and what is not UTF-8 as in printable(), markup
/// escaped.
std::string xml_text(std::string_view text);

/// A coordinate with one decimal, the same in every locale: "12", "12.5".
std::string svg_number(double value);

enum class SvgAnchor { start, middle, end };

struct SvgText {
  double x = 0;
  double y = 0;  ///< of the base line
  SvgAnchor anchor = SvgAnchor::start;
  std::string attributes{};
};

/// Elements of SVG, one per line, written from front to back.
class Svg {
 public:
  void raw(std::string_view element) { (out_ += element) += '\n'; }
  void line(double x1, double y1, double x2, double y2, std::string_view attributes = {});
  void rect(double x, double y, double width, double height, std::string_view attributes = {});
  void label(const SvgText& place, std::string_view text);

  const std::string& str() const noexcept { return out_; }

 private:
  std::string out_;
};

}  // namespace ddpkit
