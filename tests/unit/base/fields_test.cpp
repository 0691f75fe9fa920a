#include "ddpkit/base/fields.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "support/catch.hpp"

using namespace ddpkit;
using namespace std::chrono_literals;
using namespace ddpkit::literals;

namespace {

template <class T>
T parsed(std::string_view text) {
  T value{};
  INFO(text);
  CHECK(parse_scalar(text, value) == "");
  return value;
}

template <class T>
std::string complaint(std::string_view text) {
  T value{};
  const T before = value;
  INFO(text);
  const std::string expected = parse_scalar(text, value);
  CHECK_FALSE(expected.empty());
  CHECK(value == before);
  return expected;
}

template <class T>
void check_round_trip(T value) {
  const std::string text = format_scalar(value);
  INFO(text);
  CHECK(parsed<T>(text) == value);
}

}  // namespace

TEST_CASE("a bool is true or false and nothing else") {
  CHECK(parsed<bool>("true"));
  CHECK_FALSE(parsed<bool>("false"));
  for (const char* text : {"yes", "no", "on", "off", "True", "1", "0", ""}) CHECK(complaint<bool>(text) == "true or false");
}

TEST_CASE("a whole number is decimal and may use an exponent when the result is whole") {
  CHECK(parsed<std::int64_t>("0") == 0);
  CHECK(parsed<std::int64_t>("-17") == -17);
  CHECK(parsed<std::int64_t>("1e3") == 1000);
  CHECK(parsed<std::int64_t>("1.5e3") == 1500);
  CHECK(parsed<std::int64_t>("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "x", "1.5", "1.5e0", "0x10", "0b1", "1_000", "1,000", "+5", " 5", "5 ", "1e30", "true", ".inf"})
    CHECK(complaint<std::int64_t>(text) == "a whole number");
  CHECK(complaint<std::int64_t>("9223372036854775808") == "a whole number of at most 64 bits");
}

TEST_CASE("a number that looks octal is refused for integers and reals alike") {
  CHECK(complaint<std::int64_t>("010") == "a whole number without leading zeros");
  CHECK(complaint<std::int64_t>("-007") == "a whole number without leading zeros");
  CHECK(complaint<double>("010") == "a number without leading zeros");
  CHECK(complaint<double>("00.5") == "a number without leading zeros");
  CHECK(parsed<double>("0.5") == 0.5);
}

TEST_CASE("a real number is finite") {
  CHECK(parsed<double>("1e-4") == 1e-4);
  CHECK(parsed<double>("256") == 256);
  for (const char* text : {"inf", "-inf", "nan", "infinity"}) CHECK(complaint<double>(text) == "a finite number");
  for (const char* text : {"", ".inf", ".nan", "1e", "0x1p3", "1.0f", "ten"}) CHECK(complaint<double>(text) == "a number");
  CHECK(complaint<double>("1e999") == "a number that fits into 64 bits");
}

TEST_CASE("real numbers come back to the last bit") {
  std::mt19937_64 bits(7);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::bit_cast<double>(bits());
    if (std::isfinite(value)) check_round_trip(value);
  }
  for (const double value : {0.0, 0.1, 1.0 / 3, 5e-324, std::numeric_limits<double>::max(), 1e22}) check_round_trip(value);
  CHECK(std::signbit(parsed<double>(format_scalar(-0.0))));
}

TEST_CASE("a size has a binary unit") {
  CHECK(parsed<Bytes>("25MiB") == 25_MiB);
  CHECK(parsed<Bytes>("25 MiB") == 25_MiB);
  CHECK(parsed<Bytes>("1.5GiB") == 1536_MiB);
  CHECK(parsed<Bytes>("0B").count == 0);
  for (const char* text : {"25", "0", "25MB", "25mib", "MiB", "0.3B", "9999999999TiB", "9e3B", "025MiB", "25  MiB", ""})
    CHECK(complaint<Bytes>(text) == "a size such as 25MiB (units: B, KiB, MiB, GiB, TiB)");
}

TEST_CASE("sizes come back and are written with the largest unit that divides") {
  CHECK(format_scalar(25_MiB) == "25MiB");
  CHECK(format_scalar(1024_MiB) == "1GiB");
  CHECK(format_scalar(Bytes{0}) == "0B");
  const std::int64_t counts[] = {1, 1023, 1024, 1025, -1024, std::numeric_limits<std::int64_t>::max()};
  for (const std::int64_t count : counts) check_round_trip(Bytes{count});
}

TEST_CASE("an extent is steps, epochs or a percentage, and only nothing goes without a unit") {
  CHECK(parsed<Extent>("500 steps") == Extent{500, Extent::Unit::steps});
  CHECK(parsed<Extent>("1 epoch") == Extent{1, Extent::Unit::epochs});
  CHECK(parsed<Extent>("0.5 epochs") == Extent{0.5, Extent::Unit::epochs});
  CHECK(parsed<Extent>("5%") == Extent{5, Extent::Unit::percent});
  CHECK(parsed<Extent>("0") == Extent{});
  for (const char* text : {"500", "5 epoch s", "5 hours", "%", "", "epochs", "1e3 steps"})
    CHECK(complaint<Extent>(text) == "a stretch such as '500 steps', '5 epochs', '5%' or 0");
  CHECK(complaint<Extent>("0.5 steps") == "whole steps");
  CHECK(complaint<Extent>("101%") == "at most 100%");
}

TEST_CASE("extents come back") {
  for (const double amount : {0.0, 1.0, 2.0, 0.1, 1e20})
    for (const auto unit : {Extent::Unit::steps, Extent::Unit::epochs, Extent::Unit::percent})
      if (unit == Extent::Unit::epochs || (amount != 0.1 && amount < 100)) check_round_trip(Extent{amount, unit});
  CHECK(format_scalar(Extent{}) == "0");
  CHECK(format_scalar(Extent{1, Extent::Unit::epochs}) == "1 epoch");
  CHECK(format_scalar(Extent{500, Extent::Unit::steps}) == "500 steps");
  CHECK(format_scalar(Extent{5, Extent::Unit::percent}) == "5%");
}

TEST_CASE("a duration has a unit and is a whole number of milliseconds") {
  CHECK(parsed<std::chrono::milliseconds>("120s") == 120s);
  CHECK(parsed<std::chrono::milliseconds>("500ms") == 500ms);
  CHECK(parsed<std::chrono::milliseconds>("2m") == 2min);
  CHECK(parsed<std::chrono::milliseconds>("1h") == 1h);
  CHECK(parsed<std::chrono::milliseconds>("1.5s") == 1500ms);
  for (const char* text : {"120", "0", "2 minutes", "0.5ms", "s", "", "99999999999999999h"})
    CHECK(complaint<std::chrono::milliseconds>(text) == "a duration such as 120s (units: ms, s, m, h)");
}

TEST_CASE("durations come back and are written as people say them") {
  CHECK(format_scalar(std::chrono::milliseconds(120s)) == "120s");
  CHECK(format_scalar(std::chrono::milliseconds(90min)) == "90m");
  CHECK(format_scalar(std::chrono::milliseconds(2h)) == "2h");
  for (const std::chrono::milliseconds value : {0ms, 1ms, 999ms, 1000ms, 60000ms, 600000ms, 3600000ms, 3600001ms})
    check_round_trip(value);
}

TEST_CASE("a range includes its ends unless they are excluded, and never a number that is none") {
  CHECK(between(0, 1).contains(0));
  CHECK_FALSE(above(0).contains(0));
  CHECK(above(0).contains(1e-300));
  CHECK_FALSE(at_least(1).contains(0.5));
  CHECK_FALSE(Range{}.contains(std::numeric_limits<double>::quiet_NaN()));
}
