#include "ddpkit/checkpoint/checkpoint_store.hpp"

#include <sys/resource.h>

#include <csignal>
#include <set>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "unit/checkpoint/sample_tensors.hpp"

using namespace ddpkit;
using ddpkit::testing::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

const ddpkit::testing::SampleTensors& sample() {
  static const auto tensors = ddpkit::testing::all_types();
  return tensors;
}

CheckpointContent content_of(std::int64_t step, Standing standing = Standing::ordinary) {
  return {.step = step,
          .world_size = 2,
          .standing = standing,
          .sampler = {.epoch = 1, .position = step * 64, .global = 64},
          .values = {{"step", std::to_string(step)}},
          .files = {{.name = "model.safetensors", .tensors = sample().tensors()},
                    {.name = "optimizer.safetensors", .tensors = {}}}};
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& item : fs::directory_iterator(folder)) names.insert(item.path().filename().string());
  return names;
}

using Names = std::set<std::string>;

/// No file of this process may grow beyond so many bytes: a full disk for everyone, root included.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

void flip_one_bit(const fs::path& path) {
  std::string content = ddpkit::testing::read_file(path);
  content.back() ^= 1;
  ddpkit::testing::write_file(path, content);
}

}  // namespace

TEST_CASE("a saved checkpoint comes back with its state and its tensors") {
  const TemporaryFolder folder;
  CheckpointStore store(folder.path() / "checkpoints", {});
  const fs::path path = store.save(content_of(120));
  CHECK(path == folder.path() / "checkpoints" / "step-00000120");
  CHECK(names_in(path) == Names{"manifest.json", "model.safetensors", "optimizer.safetensors"});

  const LatestCheckpoint latest = store.latest_valid();
  REQUIRE(latest.checkpoint);
  CHECK(latest.problems.empty());
  const Manifest& manifest = latest.checkpoint->manifest();
  CHECK(manifest.step == 120);
  CHECK(manifest.world_size == 2);
  CHECK(manifest.sampler == SavedPosition{.epoch = 1, .position = 120 * 64, .global = 64});
  CHECK(manifest.values.at("step") == "120");
  CHECK(latest.checkpoint->open("model.safetensors").tensors().size() == sample().tensors().size());
  CHECK_THROWS_WITH(latest.checkpoint->open("other"), Catch::Contains("no file \"other\""));
}

TEST_CASE("a store that does not exist has no checkpoint and is not an error") {
  const TemporaryFolder folder;
  const LatestCheckpoint latest = CheckpointStore(folder.path() / "none", {}).latest_valid();
  CHECK_FALSE(latest.checkpoint);
  CHECK(latest.problems.empty());
}

TEST_CASE("a damaged newest checkpoint gives the one before it and a sentence about the damage") {
  const TemporaryFolder folder;
  CheckpointStore store(folder.path(), {});
  store.save(content_of(1));
  const fs::path newest = store.save(content_of(2));
  std::string expected;
  SECTION("one bit of the weights") {
    flip_one_bit(newest / "model.safetensors");
    expected = "damaged: its XXH3 digest";
  }
  SECTION("weights cut off") {
    fs::resize_file(newest / "model.safetensors", 100);
    expected = "100 bytes, its manifest says";
  }
  SECTION("a file missing") {
    fs::remove(newest / "optimizer.safetensors");
    expected = "No such file";
  }
  SECTION("no manifest") {
    fs::remove(newest / "manifest.json");
    expected = "no manifest.json";
  }
  SECTION("manifest cut off") {
    fs::resize_file(newest / "manifest.json", 50);
    expected = "not valid JSON";
  }
  const LatestCheckpoint latest = store.latest_valid();
  REQUIRE(latest.checkpoint);
  CHECK(latest.checkpoint->manifest().step == 1);
  REQUIRE(latest.problems.size() == 1);
  CHECK_THAT(latest.problems.front(), Catch::Contains("step-00000002") && Catch::Contains(expected));
}

TEST_CASE("old checkpoints go, the best one stays") {
  const TemporaryFolder folder;
  CheckpointStore store(folder.path(), {.keep = 2});
  store.save(content_of(1));
  store.save(content_of(2, Standing::best));
  for (std::int64_t step = 3; step <= 6; ++step) store.save(content_of(step));
  CHECK(names_in(folder.path()) == Names{"step-00000002", "step-00000005", "step-00000006"});
  CHECK(store.best_valid().checkpoint->manifest().step == 2);
  store.save(content_of(7, Standing::best));
  CHECK(names_in(folder.path()) == Names{"step-00000006", "step-00000007"});
}

TEST_CASE("a run that went back to an earlier step continues from what it saved last") {
  const TemporaryFolder folder;
  CheckpointStore store(folder.path(), {.keep = 1});
  store.save(content_of(120));
  store.save(content_of(100));
  CHECK(store.latest_valid().checkpoint->manifest().step == 100);
  CHECK(names_in(folder.path()) == Names{"step-00000100"});
}

TEST_CASE("saving a step again replaces its checkpoint") {
  const TemporaryFolder folder;
  CheckpointStore store(folder.path(), {});
  store.save(content_of(5));
  CheckpointContent again = content_of(5);
  again.values["note"] = "second";
  store.save(again);
  CHECK(store.latest_valid().checkpoint->manifest().values.at("note") == "second");
  CHECK(names_in(folder.path()) == Names{"step-00000005"});
}

TEST_CASE("a full disk is a StorageError, leaves no half checkpoint and keeps the one before") {
  const TemporaryFolder folder;
  CheckpointStore store(folder.path(), {.keep = 1});
  store.save(content_of(1));
  {
    const FileSizeLimit limit(300);
    CHECK_THROWS_WITH(store.save(content_of(2)), Catch::Contains("cannot write") && Catch::Contains("limit on file size"));
  }
  CHECK(names_in(folder.path()) == Names{"step-00000001"});
  CHECK(store.latest_valid().checkpoint->manifest().step == 1);
}

TEST_CASE("a folder that cannot be written is a StorageError") {
  CHECK_THROWS_AS(CheckpointStore("/proc/ddpkit/checkpoints", {}).save(content_of(1)), StorageError);
  const TemporaryFolder folder;
  ddpkit::testing::write_file(folder.path() / "file", "");
  CHECK_THROWS_AS(CheckpointStore(folder.path() / "file", {}).save(content_of(1)), StorageError);
  CHECK_THROWS_AS(CheckpointStore(folder.path() / "file", {}).latest_valid(), StorageError);
}

TEST_CASE("what a killed save left behind is removed by the next one and never loaded") {
  const TemporaryFolder folder;
  CheckpointStore store(folder.path(), {});
  for (const char* name : {".step-00000009.tmp-1", ".step-00000008.trash-77"}) {
    fs::create_directory(folder.path() / name);
    ddpkit::testing::write_file(folder.path() / name / "model.safetensors", "half");
  }
  CHECK_FALSE(store.latest_valid().checkpoint);
  store.save(content_of(1));
  CHECK(names_in(folder.path()) == Names{"step-00000001"});
}

TEST_CASE("content that cannot be written is refused and leaves the store as it was") {
  const TemporaryFolder folder;
  CheckpointStore store(folder.path(), {});
  store.save(content_of(1));
  CheckpointContent content = content_of(2);
  SECTION("a path as a name") {
    content.files[0].name = "../model.safetensors";
  }
  SECTION("a name twice") {
    content.files[1].name = content.files[0].name;
  }
  SECTION("a negative step") {
    content.step = -1;
  }
  SECTION("a tensor twice") {
    content.files[0].tensors.push_back(content.files[0].tensors.front());
  }
  SECTION("a value that is no text") {
    content.values["x"] = "\xff";
  }
  CHECK_THROWS_AS(store.save(content), UsageError);
  CHECK(names_in(folder.path()) == Names{"step-00000001"});
}
