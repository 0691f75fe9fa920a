#include "ddpkit/observe/run_folder.hpp"

#include <unistd.h>

#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "support/captured_stderr.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "unit/observe/fake_clock.hpp"

using namespace ddpkit;
namespace fs = std::filesystem;
using ddpkit::testing::CapturedStderr;
using ddpkit::testing::FakeClock;
using ddpkit::testing::TemporaryFolder;

namespace {

// A lone rank that makes run folders at a standing time.
class Maker {
 public:
  RunFolder make(const fs::path& dir, const std::string& name = "fashion") {
    return create_run_folder(*comm_, {.dir = dir, .name = name}, logger_, time_.clock());
  }
  Communicator& comm() { return *comm_; }

 private:
  std::unique_ptr<Communicator> comm_ = make_communicator({.backend = Backend::local});
  Logger logger_{{}};
  FakeClock time_;
};

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// Root may write everywhere; this puts on an ordinary user for a while.
class OrdinaryUser {
 public:
  OrdinaryUser() : root_(geteuid() == 0) {
    if (root_ && seteuid(65534) != 0) root_ = false;
  }
  ~OrdinaryUser() {
    if (root_ && seteuid(0) != 0) std::abort();
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  bool root_;
};

}  // namespace

TEST_CASE("a run folder is named after its run and its start, and is empty") {
  const TemporaryFolder dir;
  const RunFolder folder = Maker().make(dir / "runs");
  CHECK(folder.path() == dir / "runs/fashion/2026-11-30T14-27-03Z");
  CHECK(fs::is_directory(folder.path()));
  CHECK(entries_in(folder.path()) == 0);
  CHECK(folder.metrics() == folder.path() / "metrics.jsonl");
}

TEST_CASE("runs that start in one second get folders of their own and latest points to the newest") {
  const TemporaryFolder dir;
  Maker maker;
  CHECK(maker.make(dir.path()).path().filename() == "2026-11-30T14-27-03Z");
  CHECK(maker.make(dir.path()).path().filename() == "2026-11-30T14-27-03Z-2");
  CHECK(maker.make(dir.path()).path().filename() == "2026-11-30T14-27-03Z-3");
  CHECK(fs::read_symlink(dir / "fashion/latest") == "2026-11-30T14-27-03Z-3");
  CHECK(entries_in(dir / "fashion") == 4);
}

TEST_CASE("a relative place becomes an absolute path") {
  const TemporaryFolder dir;
  const fs::path before = fs::current_path();
  fs::current_path(dir.path());
  const RunFolder folder = Maker().make("./runs");
  fs::current_path(before);
  CHECK(folder.path().is_absolute());
  CHECK(fs::is_directory(folder.path()));
}

TEST_CASE("a folder in the place of latest is a warning, not an end") {
  const TemporaryFolder dir;
  fs::create_directories(dir / "fashion/latest");
  const CapturedStderr captured;
  CHECK(fs::is_directory(Maker().make(dir.path()).path()));
  CHECK(captured.text().find("latest still points elsewhere") != std::string::npos);
  CHECK(entries_in(dir / "fashion") == 2);
}

TEST_CASE("without permission to write, the error names path and user") {
  const TemporaryFolder dir;
  fs::create_directory(dir / "closed");
  fs::permissions(dir / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(dir.path(), fs::perms::all);
  Maker maker;
  const OrdinaryUser user;
  CHECK_THROWS_AS(maker.make(dir / "closed"), StorageError);
  CHECK_THROWS_WITH(maker.make(dir / "closed"), Catch::Matchers::Contains((dir / "closed/fashion").string()) &&
                                                    Catch::Matchers::Contains("Permission denied (as user "));
}

TEST_CASE("names that cannot be one folder are refused") {
  for (const std::string name : {"", ".", "..", "../x", "a/b", ".hidden", "line\nbreak", "\x1b[2J", "\xff"})
    CHECK_THROWS_AS(check_run_name(name), ConfigError);
  CHECK_THROWS_AS(check_run_name(std::string(201, 'x')), ConfigError);
  for (const std::string name : {"run", "a..b", "学習", "resnet 50, lr=0.1", "-x"}) CHECK_NOTHROW(check_run_name(name));
  const TemporaryFolder dir;
  CHECK_THROWS_AS(Maker().make(dir.path(), "../escape"), ConfigError);
}

TEST_CASE("an existing folder is reopened and one that is not there refused") {
  const TemporaryFolder dir;
  Maker maker;
  CHECK(reopen_run_folder(maker.comm(), dir.path()).path() == dir.path());
  CHECK(entries_in(dir.path()) == 0);
  CHECK_THROWS_WITH(reopen_run_folder(maker.comm(), dir / "gone"), Catch::Matchers::Contains("no such folder"));
}
