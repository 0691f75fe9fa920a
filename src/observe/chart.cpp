#include "ddpkit/observe/chart.hpp"

#include <algorithm>
#include <array>

#include "ddpkit/base/text.hpp"
#include "observe/chart_frame.hpp"
#include "observe/svg.hpp"

namespace ddpkit {
namespace {

// Okabe and Ito's colours, which the colour-blind tell apart too, darker on light and lighter on dark ground.
struct Colour {
  std::string_view on_light;
  std::string_view on_dark;
};
constexpr auto kColours = std::to_array<Colour>({{"#0068a8", "#56b4e9"},
                                                 {"#c24e00", "#ff9248"},
                                                 {"#00795a", "#2fd0a2"},
                                                 {"#a3517f", "#e79ac4"},
                                                 {"#7a6a00", "#e6c84d"},
                                                 {"#5b4bc4", "#a79bf2"}});

constexpr std::string_view kPaperOnLight = "#ffffff", kPaperOnDark = "#15181c";
constexpr std::string_view kFont = "font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\" font-size=\"12\"";
constexpr std::string_view kDashes = "stroke-dasharray=\"6 4\"";

std::string dark_style() {
  std::string style =
      text("<style>@media (prefers-color-scheme: dark) { .dk-chart { color: #e4e6e8; } .dk-paper { fill: ", kPaperOnDark,
           "; } .dk-halo { stroke: ", kPaperOnDark, "; } .dk-guide { color: #b4bac1; }");
  for (std::size_t i = 0; i < kColours.size(); ++i) style += text(" .dk-c", i, " { color: ", kColours[i].on_dark, "; }");
  return style + " }</style>";
}

// A series without a name belongs to the next one that has one, as a band to its line.
std::vector<std::size_t> colours_of(const std::vector<Chart::Series>& series) {
  std::vector<std::size_t> colours;
  std::size_t named = 0;
  for (const Chart::Series& one : series) {
    colours.push_back(named % kColours.size());
    if (!one.name.empty()) ++named;
  }
  return colours;
}

std::string colour_group(std::size_t colour) {
  return text("<g class=\"dk-c", colour, "\" color=\"", kColours[colour].on_light, "\" stroke=\"currentColor\" fill=\"none\">");
}

std::string halo() {
  return text("class=\"dk-halo\" fill=\"currentColor\" stroke=\"", kPaperOnLight,
              "\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"");
}

std::string pair_of(double x, double y) {
  return svg_number(x) + ',' + svg_number(y);
}

// Each colour has a shape of its own, for those who do not see colours and for print.
std::string marker(double x, double y, std::size_t shape) {
  constexpr std::string_view kFill = "fill=\"currentColor\" stroke=\"none\"";
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
    std::string points;
    for (const auto& [dx, dy] : corners) points += (points.empty() ? "" : " ") + pair_of(x + dx, y + dy);
    return text("<polygon points=\"", points, "\" ", kFill, "/>");
  };
  switch (shape % 4) {
    case 1: return polygon({{-3.4, -3.4}, {3.4, -3.4}, {3.4, 3.4}, {-3.4, 3.4}});
    case 2: return polygon({{0, -4.4}, {4.2, 3.2}, {-4.2, 3.2}});
    case 3: return polygon({{0, -4.6}, {4.6, 0}, {0, 4.6}, {-4.6, 0}});
    default: return text("<circle cx=\"", svg_number(x), "\" cy=\"", svg_number(y), "\" r=\"3.8\" ", kFill, "/>");
  }
}

/// Draws one chart, from back to front.
class Drawing {
 public:
  Drawing(const Chart& chart, const ChartSize& size)
      : chart_(chart), size_(size), frame_(frame_of(chart, size)), colours_(colours_of(chart.series)) {}

  std::string str() {
    begin();
    grid();
    guide_lines();
    series();
    axes();
    legend();
    guide_labels();
    svg_.raw("</svg>");
    return svg_.str();
  }

 private:
  void begin() {
    svg_.raw(text("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dk-chart\" width=\"", svg_number(size_.width),
                  "\" height=\"", svg_number(size_.height), "\" viewBox=\"0 0 ", svg_number(size_.width), ' ',
                  svg_number(size_.height), "\" role=\"img\" color=\"#22262a\" fill=\"currentColor\" ", kFont, '>'));
    svg_.raw("<title>" + xml_text(chart_.title.empty() ? "chart" : chart_.title) + "</title>");
    svg_.raw(dark_style());
    svg_.rect(0, 0, size_.width, size_.height, text("class=\"dk-paper\" rx=\"6\" fill=\"", kPaperOnLight, '"'));
    if (!chart_.title.empty())
      svg_.label({.x = 16, .y = 28, .attributes = "font-size=\"15\" font-weight=\"600\""}, chart_.title);
  }

  void grid() {
    svg_.raw("<g stroke=\"currentColor\" stroke-opacity=\"0.13\">");
    for (const Tick& tick : frame_.x_ticks) svg_.line(frame_.x(tick.at), plot().top, frame_.x(tick.at), plot().bottom);
    for (const Tick& tick : frame_.y_ticks) svg_.line(plot().left, frame_.y(tick.at), plot().right, frame_.y(tick.at));
    svg_.raw("</g>");
  }

  void axes() {
    svg_.line(plot().left, plot().bottom, plot().right, plot().bottom, "stroke=\"currentColor\" stroke-opacity=\"0.7\"");
    svg_.line(plot().left, plot().top, plot().left, plot().bottom, "stroke=\"currentColor\" stroke-opacity=\"0.7\"");
    for (const Tick& tick : frame_.x_ticks)
      svg_.label({.x = frame_.x(tick.at), .y = plot().bottom + 17, .anchor = SvgAnchor::middle}, tick.label);
    for (const Tick& tick : frame_.y_ticks)
      svg_.label({.x = plot().left - 7, .y = frame_.y(tick.at) + 4, .anchor = SvgAnchor::end}, tick.label);
    axis_labels();
  }

  void axis_labels() {
    const double x = (plot().left + plot().right) / 2, y = (plot().top + plot().bottom) / 2;
    if (!chart_.x.label.empty()) svg_.label({.x = x, .y = plot().bottom + 37, .anchor = SvgAnchor::middle}, chart_.x.label);
    if (!chart_.y.label.empty())
      svg_.label({.x = 22,
                  .y = y,
                  .anchor = SvgAnchor::middle,
                  .attributes = text("transform=\"rotate(-90 22 ", svg_number(y), ")\"")},
                 chart_.y.label);
  }

  void legend() {
    for (const LegendPlace& place : frame_.legend) {
      svg_.raw(colour_group(colours_[place.series]));
      swatch(chart_.series[place.series].mark, place.x, place.y, colours_[place.series]);
      svg_.raw("</g>");
      svg_.label({.x = place.x + 26, .y = place.y + 4}, chart_.series[place.series].name);
    }
  }

  void swatch(Chart::Mark mark, double x, double y, std::size_t colour) {
    switch (mark) {
      case Chart::Mark::points: svg_.raw(marker(x + 10, y, colour)); break;
      case Chart::Mark::line: svg_.line(x, y, x + 20, y, "stroke-width=\"2\""); break;
      case Chart::Mark::dashes: svg_.line(x, y, x + 20, y, text("stroke-width=\"2\" ", kDashes)); break;
      case Chart::Mark::band: svg_.rect(x, y - 5, 20, 10, "stroke=\"none\" fill=\"currentColor\" fill-opacity=\"0.2\""); break;
    }
  }

  // The plot is a picture of its own so that what lies outside the axes is cut off.
  void series() {
    constexpr double kMargin = 6;  // for markers on the edge
    const Box box{plot().left - kMargin, plot().top - kMargin, plot().right + kMargin, plot().bottom + kMargin};
    const std::string width = svg_number(box.right - box.left), height = svg_number(box.bottom - box.top);
    svg_.raw(text("<svg x=\"", svg_number(box.left), "\" y=\"", svg_number(box.top), "\" width=\"", width, "\" height=\"",
                  height, "\" viewBox=\"", svg_number(box.left), ' ', svg_number(box.top), ' ', width, ' ', height,
                  "\" overflow=\"hidden\">"));
    for (const Chart::Mark mark : {Chart::Mark::band, Chart::Mark::dashes, Chart::Mark::line, Chart::Mark::points})
      for (std::size_t i = 0; i < chart_.series.size(); ++i)
        if (chart_.series[i].mark == mark) draw(chart_.series[i], colours_[i]);
    svg_.raw("</svg>");
  }

  void draw(const Chart::Series& series, std::size_t colour) {
    std::vector<Chart::Point> points;
    std::ranges::copy_if(series.points, std::back_inserter(points), [&](const auto& p) { return has_place(p, chart_); });
    if (points.empty()) return;
    svg_.raw(colour_group(colour));
    if (series.mark == Chart::Mark::band) {
      band(points);
    } else {
      for (const Chart::Point& point : points) interval(point);
      if (series.mark != Chart::Mark::points) path(points, series.mark == Chart::Mark::dashes ? kDashes : "");
      if (series.mark == Chart::Mark::points)
        for (const Chart::Point& point : points) svg_.raw(marker(frame_.x(point.x), frame_.y(point.y), colour));
    }
    svg_.raw("</g>");
  }

  void path(const std::vector<Chart::Point>& points, std::string_view dashes) {
    if (points.size() == 1) return svg_.raw(marker(frame_.x(points[0].x), frame_.y(points[0].y), 0));
    std::string corners, before;
    for (const Chart::Point& point : points) {
      const std::string corner = pair_of(frame_.x(point.x), frame_.y(point.y));
      if (corner != before) corners += (corners.empty() ? "" : " ") + corner;
      before = corner;
    }
    svg_.raw(text("<polyline points=\"", corners, "\" stroke-width=\"2\" stroke-linejoin=\"round\" ", dashes, "/>"));
  }

  void band(const std::vector<Chart::Point>& points) {
    std::string there, back;
    for (const Chart::Point& point : points) {
      if (!has_place(point.low, chart_.y.scale) || !has_place(point.high, chart_.y.scale)) continue;
      there += pair_of(frame_.x(point.x), frame_.y(point.high)) + ' ';
      back.insert(0, pair_of(frame_.x(point.x), frame_.y(point.low)) + ' ');
    }
    svg_.raw(text("<polygon points=\"", there, back, "\" stroke=\"none\" fill=\"currentColor\" fill-opacity=\"0.2\"/>"));
  }

  void interval(const Chart::Point& point) {
    constexpr double kCap = 4;
    const auto end_of = [&](double end) { return has_place(end, chart_.y.scale) ? frame_.y(end) : frame_.y(point.y); };
    const double x = frame_.x(point.x), high = end_of(point.high), low = end_of(point.low);
    if (low - high < 0.5) return;
    svg_.line(x, low, x, high, "stroke-width=\"1.3\"");
    svg_.line(x - kCap, low, x + kCap, low, "stroke-width=\"1.3\"");
    svg_.line(x - kCap, high, x + kCap, high, "stroke-width=\"1.3\"");
  }

  void guide_lines() {
    svg_.raw(text("<g class=\"dk-guide\" color=\"#596069\" stroke=\"currentColor\" stroke-width=\"1.3\" ", kDashes, '>'));
    for (const GuidePlace& guide : frame_.x_guides)
      svg_.line(guide.line, guide.label.empty() ? plot().top : guide.y + 3, guide.line, plot().bottom);
    for (const GuidePlace& guide : frame_.y_guides) svg_.line(plot().left, guide.line, plot().right, guide.line);
    svg_.raw("</g>");
  }

  void guide_labels() {
    svg_.raw("<g class=\"dk-guide\" color=\"#596069\">");
    for (const auto* guides : {&frame_.x_guides, &frame_.y_guides})
      for (const GuidePlace& guide : *guides)
        if (!guide.label.empty()) guide_label(guide);
    svg_.raw("</g>");
  }

  void guide_label(const GuidePlace& guide) {
    const double x = guide.anchor == SvgAnchor::end ? guide.right() : guide.left;
    svg_.label({.x = x, .y = guide.y, .anchor = guide.anchor, .attributes = halo()}, guide.label);
  }

  const Box& plot() const { return frame_.plot; }

  const Chart& chart_;
  const ChartSize& size_;
  ChartFrame frame_;
  std::vector<std::size_t> colours_;
  Svg svg_;
};

}  // namespace

std::string to_svg(const Chart& chart, const ChartSize& size) {
  return Drawing(chart, size).str();
}

}  // namespace ddpkit
