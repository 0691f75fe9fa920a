#include "ddpkit/observe/chart.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/well_formed.hpp"

namespace ddpkit {
namespace {

using Catch::Matchers::Contains;
using Mark = Chart::Mark;

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

Chart sample() {
  return {.title = "Throughput & <memory>",
          .x = {"micro-batch", Chart::Scale::log2},
          .y = {"samples per second \"measured\""},
          .series = {{"", Mark::band, {{8, 2, 1, 3}, {64, 4, 3, 5}}},
                     {"fit", Mark::line, {{8, 2}, {64, 4}}},
                     {"measured", Mark::points, {{8, 2.1, 1.9, 2.3}, {16, 3}, {64, 4.1}}},
                     {"bound", Mark::dashes, {{8, 5}, {64, 5}}}},
          .guides = {{Chart::Guide::Across::x, 32, "choice: 32"}, {Chart::Guide::Across::y, 4.5, "limit"}}};
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("a chart is well-formed XML with its text escaped") {
  const std::string svg = to_svg(sample());
  CHECK(testing::WellFormed::problem_of(svg) == "");
  CHECK_THAT(svg, Contains("Throughput &amp; &lt;memory&gt;") && Contains("samples per second &quot;measured&quot;"));
  CHECK_THAT(svg, Contains("xmlns=\"http://www.w3.org/2000/svg\"") && Contains("viewBox=\"0 0 720 420\""));
  CHECK_THAT(svg, !Contains("<script") && !Contains("href") && !Contains("nan"));
}

TEST_CASE("the same chart gives the same bytes") {
  CHECK(to_svg(sample()) == to_svg(sample()));
}

TEST_CASE("every mark, interval, guide and name is drawn once") {
  const std::string svg = to_svg(sample());
  CHECK(count(svg, "<polyline") == 2);
  CHECK(count(svg, "<polygon") == 1 + 3 + 1);  // the band, three square markers, one of them in the legend again
  CHECK(count(svg, ">fit</text>") == 1);
  CHECK(count(svg, ">choice: 32</text>") == 1);
  CHECK(count(svg, ">limit</text>") == 1);
  CHECK(count(svg, "stroke-width=\"1.3\"/>") == 3);  // one interval: a bar with two caps
}

TEST_CASE("a series without a name has the colour of the next") {
  const std::string svg = to_svg(sample());
  CHECK(count(svg, "<g class=\"dk-c0\"") == 3);  // band, line, and its legend
}

TEST_CASE("empty data, one point and values without a place still give a picture") {
  Chart chart = sample();
  const std::vector<Chart::Point> points =
      GENERATE(std::vector<Chart::Point>{}, std::vector<Chart::Point>{{8, 0}}, std::vector<Chart::Point>{{0, 1}, {-4, 1}},
               std::vector<Chart::Point>{{8, kNan}, {kInfinity, 1}, {8, 1, -kInfinity, kInfinity}});
  for (Chart::Series& series : chart.series) series.points = points;
  for (const Chart::Scale scale : {Chart::Scale::linear, Chart::Scale::log2, Chart::Scale::log10}) {
    chart.x.scale = chart.y.scale = scale;
    const std::string svg = to_svg(chart);
    CHECK(testing::WellFormed::problem_of(svg) == "");
    CHECK_THAT(svg, !Contains("nan") && !Contains("inf"));
  }
}

TEST_CASE("a chart of nothing is a picture too") {
  CHECK(testing::WellFormed::problem_of(to_svg({})) == "");
  CHECK(testing::WellFormed::problem_of(to_svg({}, {.width = 0, .height = 0})) == "");
}

TEST_CASE("bytes that are no text do not break the picture") {
  Chart chart = sample();
  chart.title = "a\x01 b\xff";
  CHECK(testing::WellFormed::problem_of(to_svg(chart)) == "");
  CHECK_THAT(to_svg(chart), Contains("a\\x01 b\\xff"));
}

}  // namespace
}  // namespace ddpkit
