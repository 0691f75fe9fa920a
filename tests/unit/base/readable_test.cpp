#include "ddpkit/base/readable.hpp"

#include <limits>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("thousands are set apart by commas") {
  CHECK(with_thousands(0) == "0");
  CHECK(with_thousands(999) == "999");
  CHECK(with_thousands(1100) == "1,100");
  CHECK(with_thousands(-1234567) == "-1,234,567");
  CHECK(with_thousands(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
}

TEST_CASE("a number has three significant digits") {
  CHECK(readable(0) == "0");
  CHECK(readable(5.1849) == "5.18");
  CHECK(readable(0.081234) == "0.0812");
  CHECK(readable(5.2) == "5.2");
  CHECK(readable(99.96) == "100");
  CHECK(readable(1103.7) == "1,100");
  CHECK(readable(-1103.7) == "-1,100");
  CHECK(readable(1.0 / 0.0) == "infinite");
  CHECK(readable(std::numeric_limits<double>::quiet_NaN()) == "not known");
}

TEST_CASE("times and sizes come in the unit that suits") {
  CHECK(readable_seconds(0) == "0 s");
  CHECK(readable_seconds(3.4e-6) == "3.4 us");
  CHECK(readable_seconds(0.0125) == "12.5 ms");
  CHECK(readable_seconds(0.99999) == "1 s");
  CHECK(readable_seconds(420) == "7 min");
  CHECK(readable_seconds(1036800) == "12 days");
  CHECK(readable_bytes(0) == "0 B");
  CHECK(readable_bytes(26214400) == "25 MiB");
  CHECK(readable_bytes(1.5 * (1 << 30)) == "1.5 GiB");
}

TEST_CASE("shares are whole percents, but for the smallest") {
  CHECK(readable_percent(0.0808) == "8 %");
  CHECK(readable_percent(0.9996) == "100 %");
  CHECK(readable_percent(0.004) == "0.4 %");
  CHECK(readable_percent(0) == "0 %");
}
