#include "observe/chart_frame.hpp"

#include "support/catch.hpp"

namespace ddpkit {
namespace {

using Across = Chart::Guide::Across;

bool apart(const Box& a, const Box& b) {
  return a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
}

Box box_of(const GuidePlace& guide) {
  return {guide.left, guide.y - 11, guide.right(), guide.y + 2};
}

Chart throughput() {
  Chart chart{
      .title = "Throughput", .x = {"micro-batch", Chart::Scale::log2}, .y = {"samples per second"}, .series = {}, .guides = {}};
  Chart::Series measured{"measured", Chart::Mark::points, {}};
  for (double size = 8; size <= 1024; size *= 2) measured.points.push_back({size, 12000 * size / (size + 40)});
  chart.series.push_back(measured);
  return chart;
}

TEST_CASE("labels of guides close together do not overlap") {
  Chart chart = throughput();
  for (const double at : {96.0, 100.0, 128.0, 900.0, 1000.0}) chart.guides.push_back({Across::x, at, "a label of some length"});
  for (const double at : {11000.0, 11100.0, 11200.0}) chart.guides.push_back({Across::y, at, "a limit of the device"});
  const ChartFrame frame = frame_of(chart, {});
  REQUIRE(frame.x_guides.size() == 5);
  REQUIRE(frame.y_guides.size() == 3);

  std::vector<Box> boxes;
  for (const auto* guides : {&frame.x_guides, &frame.y_guides})
    for (const GuidePlace& guide : *guides) boxes.push_back(box_of(guide));
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t k = i + 1; k < boxes.size(); ++k) CHECK(apart(boxes[i], boxes[k]));
  for (const GuidePlace& guide : frame.x_guides) {
    CHECK(guide.right() <= frame.plot.right + 4);
    CHECK(guide.y < frame.plot.top);
  }
}

TEST_CASE("a limit that no data reaches is on the chart, and one outside given ends is not") {
  Chart chart = throughput();
  chart.guides = {{Across::y, 20000, "limit"}, {Across::x, 4096, "out"}};
  chart.x.max = 2048;
  const ChartFrame frame = frame_of(chart, {});
  CHECK(frame.y_guides.size() == 1);
  CHECK(frame.y_domain.high >= 20000);
  CHECK(frame.x_guides.empty());
}

TEST_CASE("the label of a limit stands where fewer points are") {
  Chart chart = throughput();
  chart.guides = {{Across::y, 11000, "limit"}};
  const ChartFrame frame = frame_of(chart, {});
  CHECK(frame.y_guides.at(0).left < (frame.plot.left + frame.plot.right) / 2);
}

TEST_CASE("a legend that does not fit into one row takes more, and leaves the plot its room") {
  Chart chart = throughput();
  for (int i = 0; i < 9; ++i) chart.series.push_back({"a curve with a long name " + std::to_string(i), Chart::Mark::line, {}});
  const ChartFrame frame = frame_of(chart, {});
  CHECK(frame.legend.back().y > frame.legend.front().y);
  CHECK(frame.legend.back().y < frame.plot.top);
  for (const LegendPlace& place : frame.legend) CHECK(place.x + text_width(chart.series[place.series].name) < 720);
}

TEST_CASE("even a tiny picture has a plot of some size") {
  const ChartFrame frame = frame_of(throughput(), {.width = 1, .height = 1});
  CHECK(frame.plot.right > frame.plot.left);
  CHECK(frame.plot.bottom > frame.plot.top);
}

}  // namespace
}  // namespace ddpkit
