#include "ddpkit/checkpoint/write_safetensors.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "unit/checkpoint/sample_tensors.hpp"

using namespace ddpkit;
using ddpkit::testing::SampleTensors;
using ddpkit::testing::TemporaryFolder;

TEST_CASE("a written file equals, to the byte, what Python's safetensors writes") {
  const TemporaryFolder folder;
  write_safetensors(folder.path() / "ours.safetensors", ddpkit::testing::all_types().tensors(), {{"format", "pt"}});
  const std::string golden = ddpkit::testing::read_file(DDPKIT_GOLDEN_FOLDER "/all_types.safetensors");
  REQUIRE(golden.size() == 665);
  CHECK(ddpkit::testing::read_file(folder.path() / "ours.safetensors") == golden);
}

TEST_CASE("writing replaces an older file and leaves nothing else behind") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "weights.safetensors";
  ddpkit::testing::write_file(path, "old");
  write_safetensors(path, ddpkit::testing::all_types().tensors());
  CHECK(std::filesystem::file_size(path) > 600);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a folder in the place of the file is refused and not touched") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "weights.safetensors";
  std::filesystem::create_directory(path);
  ddpkit::testing::write_file(path / "precious", "data");
  CHECK_THROWS_AS(write_safetensors(path, {}), StorageError);
  CHECK(ddpkit::testing::read_file(path / "precious") == "data");
}

TEST_CASE("a shape that does not match its bytes, a repeated name and a name that is no text are refused before writing") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "weights.safetensors";
  SampleTensors sample;
  SECTION("shape") {
    sample.add<float>("w", {3}, {1.F, 2.F});
    CHECK_THROWS_WITH(write_safetensors(path, sample.tensors()), Catch::Contains("need 12 bytes, got 8"));
  }
  SECTION("name twice") {
    sample.add<float>("w", {1}, {1.F});
    sample.add<double>("w", {1}, {1.});
    CHECK_THROWS_WITH(write_safetensors(path, sample.tensors()), Catch::Contains("\"w\" is given twice"));
  }
  SECTION("not UTF-8") {
    sample.add<float>("w\xff", {1}, {1.F});
    CHECK_THROWS_AS(write_safetensors(path, sample.tensors()), UsageError);
  }
  SECTION("reserved") {
    sample.add<float>("__metadata__", {1}, {1.F});
    CHECK_THROWS_AS(write_safetensors(path, sample.tensors()), UsageError);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}
