#include "observe/chart_frame.hpp"

#include <algorithm>

#include "ddpkit/base/printable.hpp"

namespace ddpkit {
namespace {

constexpr double kEdge = 12;
constexpr double kRow = 18;  // of the legend and of guide labels above the plot
constexpr double kTitle = 26;
constexpr double kSwatch = 28;  // of a legend entry, before its text
constexpr double kTextHeight = 13;
constexpr double kTickRoom = 22;   // tick labels below the plot
constexpr double kLabelRoom = 20;  // an axis label
constexpr double kPixelsPerXTick = 72;
constexpr double kPixelsPerYTick = 44;

using Across = Chart::Guide::Across;

std::vector<double> values_along(const Chart& chart, Across axis) {
  const bool x = axis == Across::x;
  const Chart::Scale scale = x ? chart.x.scale : chart.y.scale;
  std::vector<double> values;
  const auto add = [&](double value) {
    if (has_place(value, scale)) values.push_back(value);
  };
  for (const Chart::Series& series : chart.series)
    for (const Chart::Point& point : series.points) {
      if (!has_place(point, chart)) continue;
      if (x) {
        add(point.x);
        continue;
      }
      if (series.mark != Chart::Mark::band) add(point.y);
      add(point.low);
      add(point.high);
    }
  for (const Chart::Guide& guide : chart.guides)
    if (guide.axis == axis) add(guide.at);
  return values;
}

std::vector<LegendPlace> place_legend(const Chart& chart, double left, double right, double first_row) {
  std::vector<LegendPlace> places;
  double x = left, y = first_row;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (chart.series[i].name.empty()) continue;
    const double width = kSwatch + text_width(chart.series[i].name) + kEdge;
    if (x > left && x + width > right) {
      x = left;
      y += kRow;
    }
    places.push_back({i, x, y});
    x += width;
  }
  return places;
}

struct RowedGuides {
  std::vector<GuidePlace> places;
  std::vector<std::size_t> rows;
  std::size_t row_count = 0;
};

// Below all labels that this one or its line would cross.
std::size_t free_row(const RowedGuides& placed, const GuidePlace& guide) {
  constexpr double kGap = 6;
  std::size_t row = 0;
  for (std::size_t i = 0; i < placed.places.size(); ++i) {
    const GuidePlace& other = placed.places[i];
    const bool beside = other.right() + kGap < guide.left || guide.right() + kGap < other.left;
    if (!beside && !other.label.empty()) row = std::max(row, placed.rows[i] + 1);
  }
  return row;
}

void place_in_row(RowedGuides& placed, GuidePlace guide) {
  const std::size_t row = guide.label.empty() ? 0 : free_row(placed, guide);
  if (!guide.label.empty()) placed.row_count = std::max(placed.row_count, row + 1);
  placed.places.push_back(std::move(guide));
  placed.rows.push_back(row);
}

std::vector<GuidePlace> x_guides_of(const Chart& chart, const ChartFrame& frame) {
  std::vector<GuidePlace> guides;
  for (const Chart::Guide& guide : chart.guides) {
    if (guide.axis != Across::x || !has_place(guide.at, chart.x.scale)) continue;
    const double line = frame.x(guide.at), width = text_width(guide.label);
    if (line < frame.plot.left - 0.5 || line > frame.plot.right + 0.5) continue;
    const bool fits = line - 3 + width <= frame.plot.right;
    guides.push_back({guide.label, line, fits ? line - 3 : line + 3 - width, 0, fits ? SvgAnchor::start : SvgAnchor::end});
  }
  std::ranges::stable_sort(guides, {}, &GuidePlace::line);
  return guides;
}

// A label goes to the right of its line, or to the left where it would leave the plot. The outermost come into the highest row,
// so that lines further in begin below them.
RowedGuides place_x_guides(const Chart& chart, const ChartFrame& frame) {
  const std::vector<GuidePlace> guides = x_guides_of(chart, frame);
  RowedGuides placed;
  for (auto guide = guides.rbegin(); guide != guides.rend(); ++guide)
    if (guide->anchor == SvgAnchor::end) place_in_row(placed, *guide);
  for (const GuidePlace& guide : guides)
    if (guide.anchor == SvgAnchor::start) place_in_row(placed, guide);
  return placed;
}

std::size_t marks_in(const Box& box, const Chart& chart, const ChartFrame& frame) {
  const auto crosses = [&](const GuidePlace& guide) { return guide.line > box.left && guide.line < box.right; };
  auto count = static_cast<std::size_t>(std::ranges::count_if(frame.x_guides, crosses));
  for (const Chart::Series& series : chart.series)
    for (const Chart::Point& point : series.points) {
      if (!has_place(point, chart)) continue;
      const double x = frame.x(point.x), y = frame.y(point.y);
      count += x > box.left && x < box.right && y > box.top && y < box.bottom ? 1 : 0;
    }
  return count;
}

GuidePlace place_y_guide(const Chart::Guide& guide, const Chart& chart, const ChartFrame& frame, double least_y) {
  const double line = frame.y(guide.at), width = text_width(guide.label);
  double y = line - 4;
  if (y - kTextHeight < frame.plot.top) y = line + kTextHeight;
  y = std::max(y, least_y);
  const double left = frame.plot.left + 6, right = frame.plot.right - 6;
  const auto crowd = [&](double x) { return marks_in({x - 5, y - kTextHeight - 5, x + width + 5, y + 8}, chart, frame); };
  if (crowd(right - width) <= crowd(left)) return {guide.label, line, right - width, y, SvgAnchor::end};
  return {guide.label, line, left, y, SvgAnchor::start};
}

std::vector<GuidePlace> place_y_guides(const Chart& chart, const ChartFrame& frame) {
  std::vector<const Chart::Guide*> guides;
  for (const Chart::Guide& guide : chart.guides)
    if (guide.axis == Across::y && has_place(guide.at, chart.y.scale)) guides.push_back(&guide);
  std::ranges::stable_sort(guides, std::greater<>{}, [](const Chart::Guide* guide) { return guide->at; });

  std::vector<GuidePlace> placed;
  double least_y = 0;
  for (const Chart::Guide* guide : guides) {
    const double line = frame.y(guide->at);
    if (line < frame.plot.top - 0.5 || line > frame.plot.bottom + 0.5) continue;
    placed.push_back(place_y_guide(*guide, chart, frame, least_y));
    if (!guide->label.empty()) least_y = placed.back().y + kTextHeight + 2;
  }
  return placed;
}

double widest_label(const std::vector<Tick>& ticks) {
  double widest = 0;
  for (const Tick& tick : ticks) widest = std::max(widest, text_width(tick.label));
  return widest;
}

int ticks_for(double pixels, double pixels_per_tick) {
  return std::max(2, static_cast<int>(pixels / pixels_per_tick));
}

void place_vertically(ChartFrame& frame, const Chart& chart, double top, double bottom) {
  frame.plot.top = top;
  frame.plot.bottom = std::max(top + 20, bottom);
  const int most_ticks = ticks_for(frame.plot.bottom - frame.plot.top, kPixelsPerYTick);
  frame.y_domain = domain_of(values_along(chart, Across::y), chart.y, most_ticks);
  frame.y_ticks = ticks_of(frame.y_domain, chart.y.scale, most_ticks);
}

void place_horizontally(ChartFrame& frame, const Chart& chart, double width) {
  frame.plot.left = kEdge + (chart.y.label.empty() ? 0 : kLabelRoom) + widest_label(frame.y_ticks) + 8;
  frame.plot.right = std::max(frame.plot.left + 20, width - kEdge - 14);
  const int most_ticks = ticks_for(frame.plot.right - frame.plot.left, kPixelsPerXTick);
  frame.x_domain = domain_of(values_along(chart, Across::x), chart.x, most_ticks);
  frame.x_ticks = ticks_of(frame.x_domain, chart.x.scale, most_ticks);
}

}  // namespace

double text_width(std::string_view text) {
  double width = 0;
  for (; !text.empty(); text.remove_prefix(std::max<std::size_t>(1, utf8_length(text)))) width += 6.6;
  return width;
}

bool has_place(const Chart::Point& point, const Chart& chart) {
  return has_place(point.x, chart.x.scale) && has_place(point.y, chart.y.scale);
}

ChartFrame frame_of(const Chart& chart, const ChartSize& size) {
  ChartFrame frame;
  frame.x_scale = chart.x.scale;
  frame.y_scale = chart.y.scale;
  const double bottom = size.height - kEdge - kTickRoom - (chart.x.label.empty() ? 0 : kLabelRoom);
  double top = kEdge + (chart.title.empty() ? 0 : kTitle);

  frame.legend = place_legend(chart, kEdge + 4, size.width - kEdge, top + kRow / 2);
  if (!frame.legend.empty()) top = frame.legend.back().y + kRow / 2 + 2;

  place_vertically(frame, chart, top + 8, bottom);
  place_horizontally(frame, chart, size.width);
  RowedGuides guides = place_x_guides(chart, frame);
  for (std::size_t i = 0; i < guides.places.size(); ++i)
    guides.places[i].y = top + kTextHeight + static_cast<double>(guides.rows[i]) * (kTextHeight + 2);
  frame.x_guides = std::move(guides.places);
  if (guides.row_count > 0)
    place_vertically(frame, chart, top + 8 + static_cast<double>(guides.row_count) * (kTextHeight + 2), bottom);
  frame.y_guides = place_y_guides(chart, frame);
  return frame;
}

}  // namespace ddpkit
