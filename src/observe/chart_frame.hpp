#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/observe/chart.hpp"
#include "observe/chart_scale.hpp"
#include "observe/svg.hpp"

// Where everything on a chart goes. Pure: from a chart and its size to places in pixels.

namespace ddpkit {

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// About as wide as the text is in a sans-serif font of 12 pixels; rather too wide.
double text_width(std::string_view text);

/// A label of a guide and the place of its line.
struct GuidePlace {
  std::string label;
  double line = 0;  ///< pixel across which the line goes
  double left = 0;  ///< of the label
  double y = 0;     ///< of the label's base line
  SvgAnchor anchor = SvgAnchor::start;

  double right() const { return left + text_width(label); }
};

struct LegendPlace {
  std::size_t series = 0;
  double x = 0;
  double y = 0;  ///< middle of the row
};

struct ChartFrame {
  Box plot;
  Domain x_domain;
  Domain y_domain;
  Chart::Scale x_scale = Chart::Scale::linear;
  Chart::Scale y_scale = Chart::Scale::linear;
  std::vector<Tick> x_ticks;
  std::vector<Tick> y_ticks;
  std::vector<LegendPlace> legend;
  std::vector<GuidePlace> x_guides;  ///< labels in rows above the plot, each in a row that no other label crosses
  std::vector<GuidePlace> y_guides;  ///< labels at their lines inside the plot, on the emptier side, apart from each other

  double x(double value) const { return plot.left + (plot.right - plot.left) * place_in(x_domain, x_scale, value); }
  double y(double value) const { return plot.bottom - (plot.bottom - plot.top) * place_in(y_domain, y_scale, value); }
};

ChartFrame frame_of(const Chart& chart, const ChartSize& size);

/// Whether both coordinates have a place on the chart's axes.
bool has_place(const Chart::Point& point, const Chart& chart);

}  // namespace ddpkit
