#include "ddpkit/base/figures.hpp"

#include <limits>

#include "support/catch.hpp"

namespace ddpkit {
namespace {

TEST_CASE("counts are written in groups of thousands") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(grouped(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
}

TEST_CASE("figures have three significant digits and no idle zeros") {
  CHECK(figure(0) == "0");
  CHECK(figure(-0.0) == "0");
  CHECK(figure(1) == "1");
  CHECK(figure(12.345) == "12.3");
  CHECK(figure(0.012345) == "0.0123");
  CHECK(figure(-0.5) == "-0.5");
  CHECK(figure(9.999) == "10");
  CHECK(figure(1234) == "1,230");
  CHECK(figure(51234.5) == "51,200");
  CHECK(figure(999999) == "1,000,000");
  CHECK(figure(12345678) == "1.23e+07");
  CHECK(figure(0.0000123) == "1.23e-05");
  CHECK(figure(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("decimals can be fixed") {
  CHECK(fixed_figure(0.25, 3) == "0.250");
  CHECK(fixed_figure(-1234.56, 1) == "-1,234.6");
}

TEST_CASE("sizes, times and shares carry their unit") {
  CHECK(bytes_figure(512) == "512 B");
  CHECK(bytes_figure(1536) == "1.5 KiB");
  CHECK(bytes_figure(26.2 * 1048576) == "26.2 MiB");
  CHECK(bytes_figure(1024) == "1 KiB");
  CHECK(bytes_figure(1 << 30) == "1 GiB");
  CHECK(bytes_figure(1e18) == "909,000 TiB");
  CHECK(seconds_figure(0) == "0 ns");
  CHECK(seconds_figure(0.0000123) == "12.3 us");
  CHECK(seconds_figure(0.00123) == "1.23 ms");
  CHECK(seconds_figure(0.9997) == "1 s");
  CHECK(seconds_figure(3600) == "3,600 s");
  CHECK(percent_figure(0.9123) == "91 %");
  CHECK(percent_figure(0.0237) == "2.4 %");
  CHECK(percent_figure(-0.00001) == "0 %");
  CHECK(percent_figure(12.5) == "1,250 %");
}

}  // namespace
}  // namespace ddpkit
