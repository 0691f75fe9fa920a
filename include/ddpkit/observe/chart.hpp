#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ddpkit {

/// A picture of numbers, drawn as SVG: for reports and run folders. Plain data.
struct Chart {
  enum class Scale { linear, log2, log10 };
  struct Axis {
    std::string label;
    Scale scale = Scale::linear;
    std::optional<double> min{};  ///< left out: from the data; linear axes then begin at 0 where that is near
    std::optional<double> max{};
  };

  struct Point {
    double x = 0;
    double y = 0;
    double low = y;  ///< ends of an interval, drawn as a bar where they differ from y
    double high = y;
  };
  enum class Mark {
    points,
    line,
    dashes,
    band,  ///< the area between `low` and `high`
  };
  struct Series {
    std::string name;  ///< in the legend; empty: not there
    Mark mark = Mark::points;
    std::vector<Point> points;
  };

  /// A line across the picture at one value, such as a limit or a choice, with its label beside it.
  struct Guide {
    enum class Across { x, y };
    Across axis = Across::x;
    double at = 0;
    std::string label;
  };

  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<Guide> guides;
};

struct ChartSize {
  int width = 720;
  int height = 420;
};

/// A whole SVG document without scripts, fonts or other files, readable on light and dark ground, the same for the same chart.
/// Values that are not finite, or not positive on a logarithmic axis, are left out. Text is escaped.
std::string to_svg(const Chart& chart, const ChartSize& size = {});

}  // namespace ddpkit
