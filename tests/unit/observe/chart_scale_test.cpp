#include "observe/chart_scale.hpp"

#include <limits>

#include "support/catch.hpp"

namespace ddpkit {
namespace {

using Scale = Chart::Scale;

std::string labels(const Domain& domain, Scale scale, int most) {
  std::string all;
  for (const Tick& tick : ticks_of(domain, scale, most)) all += (all.empty() ? "" : " ") + tick.label;
  return all;
}

TEST_CASE("ticks are round numbers at equal distances") {
  struct Row {
    Domain domain;
    Scale scale;
    int most;
    const char* labels;
  };
  const Row row = GENERATE(
      Row{{0, 1}, Scale::linear, 5, "0 0.2 0.4 0.6 0.8 1.0"},
      Row{{0, 12000}, Scale::linear, 6, "0 2,000 4,000 6,000 8,000 10,000 12,000"},
      Row{{-30, 30}, Scale::linear, 4, "-20 0 20"}, Row{{0.31, 0.39}, Scale::linear, 4, "0.32 0.34 0.36 0.38"},
      Row{{1e16, 1e16 + 8},
          Scale::linear,
          4,
          "10,000,000,000,000,000 10,000,000,000,000,002 "
          "10,000,000,000,000,004 10,000,000,000,000,006 "
          "10,000,000,000,000,008"},
      Row{{0, 3e9}, Scale::linear, 3, "0 1e+09 2e+09 3e+09"}, Row{{7, 1100}, Scale::log2, 10, "8 16 32 64 128 256 512 1,024"},
      Row{{7, 1100}, Scale::log2, 4, "16 64 256 1,024"}, Row{{0.2, 3}, Scale::log2, 9, "0.25 0.5 1 2"},
      Row{{3, 250}, Scale::log10, 9, "5 10 20 50 100 200"},
      Row{{0.01, 1e6}, Scale::log10, 9, "0.01 0.1 1 10 100 1,000 10,000 100,000 1,000,000"});
  CHECK(labels(row.domain, row.scale, row.most) == row.labels);
}

TEST_CASE("an axis reaches round ends around its values, and begins at 0 where that is near") {
  struct Row {
    std::vector<double> values;
    Chart::Axis axis;
    Domain domain;
  };
  const Row row = GENERATE(Row{{3, 95}, {}, {0, 100}}, Row{{90, 95}, {}, {90, 95}}, Row{{-5, -1}, {}, {-5, 0}},
                           Row{{}, {}, {0, 1}}, Row{{0}, {}, {-1, 1}}, Row{{4}, {}, {0, 6}},
                           Row{{3, 95}, {.min = 10, .max = 50}, {10, 50}}, Row{{3, 95}, {.min = 50, .max = 10}, {0, 100}},
                           Row{{3, 95}, {.max = std::numeric_limits<double>::infinity()}, {0, 100}});
  const Domain domain = domain_of(row.values, row.axis, 5);
  CHECK(domain.low == Approx(row.domain.low).margin(1e-12));
  CHECK(domain.high == Approx(row.domain.high).margin(1e-12));
}

TEST_CASE("a logarithmic axis spans at least a factor of 4 and keeps its values inside") {
  for (const Scale scale : {Scale::log2, Scale::log10})
    for (const std::vector<double>& values : {std::vector<double>{}, {8}, {8, 9}, {1, 1024}}) {
      const Domain domain = domain_of(values, {.scale = scale}, 6);
      CHECK(domain.high / domain.low >= 4 * 0.999);
      for (const double value : values) CHECK((value > domain.low && value < domain.high));
      CHECK(ticks_of(domain, scale, 6).size() >= 2);
    }
  CHECK(domain_of({8}, {.scale = Scale::log2, .min = -1}, 6).low == Approx(4));
}

TEST_CASE("places follow the scale") {
  CHECK(place_in({0, 10}, Scale::linear, 5) == Approx(0.5));
  CHECK(place_in({1, 16}, Scale::log2, 4) == Approx(0.5));
  CHECK(place_in({1, 10000}, Scale::log10, 1000) == Approx(0.75));
  CHECK(place_in({0, 10}, Scale::linear, 15) == Approx(1.5));
  CHECK_FALSE(has_place(0, Scale::log2));
  CHECK_FALSE(has_place(std::numeric_limits<double>::quiet_NaN(), Scale::linear));
}

}  // namespace
}  // namespace ddpkit
