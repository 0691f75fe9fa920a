#include "ddpkit/checkpoint/replace_file.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;
namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

}  // namespace

TEST_CASE("a file gets new content and keeps its mode, and nothing else is left") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "run.yaml";
  replace_file(path, "first");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  replace_file(path, "second");
  CHECK(content_of(path) == "second");
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a link stays a link, to the new content") {
  const TemporaryFolder folder;
  replace_file(folder.path() / "real.yaml", "old");
  fs::create_symlink("real.yaml", folder.path() / "run.yaml");
  replace_file(folder.path() / "run.yaml", "new");
  CHECK(fs::is_symlink(folder.path() / "run.yaml"));
  CHECK(content_of(folder.path() / "real.yaml") == "new");
}

TEST_CASE("a folder that does not exist is an error with its path") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(replace_file(folder.path() / "none" / "file", "x"), StorageError);
}
