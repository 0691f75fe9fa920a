#include "observe/svg.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "ddpkit/base/printable.hpp"

namespace ddpkit {
namespace {

std::string attribute(std::string_view name, double value) {
  return ' ' + std::string(name) + "=\"" + svg_number(value) + '"';
}

std::string spaced(std::string_view attributes) {
  return attributes.empty() ? "" : ' ' + std::string(attributes);
}

std::string_view anchor_of(SvgAnchor anchor) {
  switch (anchor) {
    case SvgAnchor::start: return "";
    case SvgAnchor::middle: return " text-anchor=\"middle\"";
    case SvgAnchor::end: return " text-anchor=\"end\"";
  }
  return "";
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return out;
}

std::string svg_number(double value) {
  std::array<char, 32> buffer{};
  const double tenths = std::round(value * 10);
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), tenths == 0 ? 0.0 : tenths / 10);
  return error == std::errc{} ? std::string(buffer.data(), end) : "0";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  raw("<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) + attribute("y2", y2) + spaced(attributes) +
      "/>");
}

void Svg::rect(double x, double y, double width, double height, std::string_view attributes) {
  raw("<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height) +
      spaced(attributes) + "/>");
}

void Svg::label(const SvgText& place, std::string_view text) {
  raw("<text" + attribute("x", place.x) + attribute("y", place.y) + std::string(anchor_of(place.anchor)) +
      spaced(place.attributes) + '>' + xml_text(text) + "</text>");
}

}  // namespace ddpkit
