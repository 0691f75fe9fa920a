#include "ddpkit/base/bytes_text.hpp"

#include <catch2/catch.hpp>
#include <limits>

namespace ddpkit {
namespace {

TEST_CASE("A size is shown in the unit that suits it") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(1024) == "1 KiB");
  CHECK(bytes_text(64 << 20) == "64 MiB");
  CHECK(bytes_text(std::int64_t{24} << 40) == "24 TiB");
}

TEST_CASE("Three digits are shown of a size, and no zeros at the end") {
  CHECK(bytes_text(12025908429) == "11.2 GiB");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(10 << 10) == "10 KiB");
  CHECK(bytes_text(100 << 10) == "100 KiB");
  CHECK(bytes_text(1234567) == "1.18 MiB");
  CHECK(bytes_text(10234) == "9.99 KiB");
  CHECK(bytes_text(10238) == "10 KiB");
}

TEST_CASE("A size just below the next unit is shown in the next unit") {
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text((1 << 20) - 1) == "1 MiB");
}

TEST_CASE("Every 64-bit size can be shown") {
  CHECK(bytes_text(-1536) == "-1.5 KiB");
  CHECK(bytes_text(std::numeric_limits<std::int64_t>::max()) == "8 EiB");
  CHECK(bytes_text(std::numeric_limits<std::int64_t>::min()) == "-8 EiB");
}

}  // namespace
}  // namespace ddpkit
