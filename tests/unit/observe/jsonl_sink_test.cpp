#include "ddpkit/observe/jsonl_sink.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "unit/observe/fake_clock.hpp"

using namespace ddpkit;
using ddpkit::testing::FakeClock;
using ddpkit::testing::read_file;
using ddpkit::testing::TemporaryFolder;
using ddpkit::testing::write_file;

namespace {

MetricRecord record_of(std::vector<Metric> values, std::string text = {}) {
  return {.kind = RecordKind::train,
          .step = 10,
          .epoch = 0.5,
          .samples = 5120,
          .time = FakeClock::start(),
          .values = std::move(values),
          .text = std::move(text)};
}

std::vector<nlohmann::json> parsed(const std::string& bytes) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(bytes);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace

TEST_CASE("a record is one line of JSON in a fixed order of keys") {
  const TemporaryFolder folder;
  JsonlSink(folder / "m.jsonl").write(record_of({{"loss", 0.1}, {"lr", 1e-3}}, "note"));
  CHECK(read_file(folder / "m.jsonl") ==
        "{\"schema\":1,\"kind\":\"train\",\"step\":10,\"epoch\":0.5,\"samples\":5120,\"time\":1796048823.25,"
        "\"values\":{\"loss\":0.1,\"lr\":0.001},\"text\":\"note\"}\n");
}

TEST_CASE("numbers come back to the last bit and values that are not finite are null with their name") {
  const TemporaryFolder folder;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double third = 1.0 / 3.0;
  JsonlSink(folder / "m.jsonl").write(record_of({{"a", third}, {"b", kInfinity}, {"c", -kInfinity}, {"d", std::nan("")}}));
  const auto line = parsed(read_file(folder / "m.jsonl")).at(0);
  CHECK(line["values"]["a"].get<double>() == third);
  CHECK(line["values"]["b"].is_null());
  CHECK(line["nonfinite"] == nlohmann::json({{"b", "inf"}, {"c", "-inf"}, {"d", "nan"}}));
  CHECK_FALSE(line.contains("text"));
}

TEST_CASE("quotes, newlines and broken UTF-8 in names and texts stay within the line") {
  const TemporaryFolder folder;
  JsonlSink(folder / "m.jsonl").write(record_of({{"a\"b\n", 1}, {"\xff", 2}}, "two\nlines"));
  const auto lines = parsed(read_file(folder / "m.jsonl"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["values"]["a\"b\n"] == 1);
  CHECK(lines[0]["text"] == "two\nlines");
}

TEST_CASE("a second sink on the file goes on behind the first") {
  const TemporaryFolder folder;
  JsonlSink(folder / "m.jsonl").write(record_of({{"loss", 1}}));
  JsonlSink(folder / "m.jsonl").write(record_of({{"loss", 2}}));
  const auto lines = parsed(read_file(folder / "m.jsonl"));
  REQUIRE(lines.size() == 2);
  CHECK(lines[1]["values"]["loss"] == 2);
}

TEST_CASE("half a line at the end of the file is cut off before the next record") {
  const TemporaryFolder folder;
  const std::string whole = "{\"schema\":1}\n";
  const std::string long_tail(10000, 'x');
  for (const std::string& before :
       {whole + "{\"sch", whole + long_tail, whole, std::string("{\"torn"), long_tail, std::string()}) {
    write_file(folder / "m.jsonl", before);
    JsonlSink(folder / "m.jsonl").write(record_of({{"loss", 1}}));
    const auto lines = parsed(read_file(folder / "m.jsonl"));
    REQUIRE(lines.size() == (before.starts_with(whole) ? 2 : 1));
    CHECK(lines.back()["values"]["loss"] == 1);
  }
}

TEST_CASE("a file that cannot be opened or written is a storage error that names it") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(JsonlSink(folder / "missing/m.jsonl"), StorageError);
  JsonlSink full("/dev/full");
  CHECK_THROWS_WITH(full.write(record_of({})),
                    Catch::Matchers::Contains("/dev/full") && Catch::Matchers::Contains("No space left"));
}
