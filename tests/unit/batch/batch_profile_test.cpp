#include "ddpkit/batch/batch_profile.hpp"

#include <cmath>
#include <fstream>
#include <limits>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

BatchProfile some_profile() {
  BatchProfile profile{.model = "fashion \"mlp\"", .device = "cuda", .world_size = 3, .nodes = 2};
  profile.measured.push_back({.micro = 8, .seconds = 1.0 / 3, .half_width = 1e-17, .repeats = 5, .peak_bytes = 1LL << 52});
  profile.measured.push_back({.micro = 16, .seconds = 0.1, .data_share = 0.2, .communication_share = 0.3, .utilisation = 0.7});
  profile.out_of_memory = {32, 1LL << 40};
  profile.communication_seconds = 0.1 + 0.2;
  profile.update_seconds = 5e-324;
  profile.gradient_bytes = std::numeric_limits<std::int64_t>::max();
  profile.memory_limit = 512 << 20;
  profile.memory_target = 0.85;
  profile.dataset = 60000;
  profile.choice = BatchPlan{96, 16, 2};
  profile.explanation = "micro 16: 91 % of the plateau";
  return profile;
}

/// The document of some_profile() with one text replaced.
std::string with(const std::string& old, const std::string& replacement) {
  std::string json = to_json(some_profile());
  const auto at = json.find(old);
  REQUIRE(at != std::string::npos);
  return json.replace(at, old.size(), replacement);
}

}  // namespace

TEST_CASE("a batch profile keeps all its digits") {
  const BatchProfile profile = some_profile(), again = parse_batch_profile(to_json(profile));
  CHECK(again.model == profile.model);
  CHECK(again.device == "cuda");
  CHECK(again.world_size == 3);
  CHECK(again.nodes == 2);
  REQUIRE(again.measured.size() == 2);
  CHECK(again.measured[0].seconds == 1.0 / 3);
  CHECK(again.measured[0].half_width == 1e-17);
  CHECK(again.measured[0].peak_bytes == 1LL << 52);
  CHECK_FALSE(again.measured[0].utilisation);
  CHECK(again.measured[1].utilisation == 0.7);
  CHECK(again.out_of_memory == profile.out_of_memory);
  CHECK(again.communication_seconds == 0.1 + 0.2);
  CHECK(again.update_seconds == 5e-324);
  CHECK(again.gradient_bytes == profile.gradient_bytes);
  CHECK(again.choice == profile.choice);
  CHECK(to_json(again) == to_json(profile));
}

TEST_CASE("an empty batch profile is a document too") {
  const BatchProfile again = parse_batch_profile(to_json({}));
  CHECK(again.measured.empty());
  CHECK_FALSE(again.choice);
}

TEST_CASE("an interval that is not known survives as not a number") {
  BatchProfile profile = some_profile();
  profile.measured[0].half_width = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(parse_batch_profile(to_json(profile)).measured[0].half_width));
}

TEST_CASE("other documents and versions are no batch profiles") {
  CHECK_THROWS_WITH(parse_batch_profile("{}"), Contains("its format is not"));
  CHECK_THROWS_WITH(parse_batch_profile("[1, 2]"), Contains("its format is not"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"version\": 1", "\"version\": 2")),
                    Contains("version 2, this ddpkit reads version 1"));
}

TEST_CASE("a batch profile that is cut off anywhere is refused") {
  const std::string json = to_json(some_profile());
  for (std::size_t length = 0; length + 2 < json.size(); length += 7)
    CHECK_THROWS_AS(parse_batch_profile(json.substr(0, length)), DataError);
  CHECK_THROWS_WITH(parse_batch_profile(json.substr(0, json.size() / 2)), Contains("cut off"));
}

TEST_CASE("a wrong field of a batch profile is named") {
  CHECK_THROWS_WITH(parse_batch_profile(with("\"nodes\": 2", "\"nodes\": \"2\"")), Contains("nodes: expected a whole number"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"nodes\": 2", "\"nodes\": 2.5")), Contains("nodes: expected a whole number"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"nodes\": 2", "\"nodes\": 4294967296")), Contains("31 bits"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"nodes\": 2", "\"nods\": 2")), Contains("nodes is missing"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"nodes\": 2", "\"nodes\": 2, \"x\": 1")), Contains("does not know"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"dataset\": 60000", "\"dataset\": 18446744073709551615")), Contains("dataset"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"seconds\": 0.1", "\"seconds\": true")),
                    Contains("measured[1].seconds: expected a number, got true"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"accumulate\": 2", "\"accumulate\": null")), Contains("choice.accumulate"));
}

TEST_CASE("values that cannot be are refused in a batch profile") {
  CHECK_THROWS_WITH(parse_batch_profile(with("\"seconds\": 0.1", "\"seconds\": 0")), Contains("measured[1].seconds"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"seconds\": 0.1", "\"seconds\": null")), Contains("measured[1].seconds"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"micro\": 16", "\"micro\": 8")), Contains("must rise from 8"));
  CHECK_THROWS_WITH(parse_batch_profile(with("\"dataset\": 60000", "\"dataset\": -1")), Contains("not negative"));
}

TEST_CASE("reading a batch profile names the file") {
  const testing::TemporaryFolder folder;
  const auto file = folder / "tune.json";
  CHECK_THROWS_AS(read_batch_profile(file), StorageError);
  std::ofstream(file) << to_json(some_profile());
  CHECK(read_batch_profile(file).dataset == 60000);
  std::ofstream(file) << "{\"format\": ";
  CHECK_THROWS_WITH(read_batch_profile(file), Contains("tune.json") && Contains("cut off"));
}
