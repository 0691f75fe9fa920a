#include "ddpkit/observe/run_folder.hpp"

#include <unistd.h>

#include <memory>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;
namespace fs = std::filesystem;
using ddpkit::testing::TemporaryFolder;

namespace {

// A folder made by rank 0 and known to all.
class SharedFolder {
 public:
  explicit SharedFolder(Communicator& comm) : comm_(comm) {
    if (comm.rank() == 0) mine_ = std::make_unique<TemporaryFolder>();
    path_ = broadcast_text(comm, mine_ ? mine_->path().string() : "");
  }
  ~SharedFolder() { comm_.barrier(); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  Communicator& comm_;
  std::unique_ptr<TemporaryFolder> mine_;
  fs::path path_;
};

}  // namespace

TEST_CASE("all ranks get the one folder that rank 0 made") {
  const auto comm = make_communicator();
  const SharedFolder dir(*comm);
  Logger logger({.rank = comm->rank(), .world_size = comm->world_size()});
  const RunFolder folder = create_run_folder(*comm, {.dir = dir.path(), .name = "run"}, logger);
  CHECK(fs::is_directory(folder.path()));
  CHECK(broadcast_text(*comm, folder.path().string()) == folder.path().string());
}

TEST_CASE("a rank that does not see rank 0's folder stops every rank, and nothing stays behind") {
  const auto comm = make_communicator();
  const TemporaryFolder mine;
  const fs::path before = fs::current_path();
  fs::current_path(mine.path());
  Logger logger({.rank = comm->rank(), .world_size = comm->world_size()});
  std::string message;
  try {
    create_run_folder(*comm, {.dir = "/proc/self/cwd", .name = "run"}, logger);  // another folder in each process
  } catch (const StorageError& error) {
    message = error.what();
    CHECK(error.on_all_ranks());
  }
  fs::current_path(before);
  if (comm->world_size() == 1) {
    CHECK(message.empty());
    return;
  }
  CHECK(message.find("it is not the same folder on " + comm->topology().host) != std::string::npos);
  CHECK((comm->rank() != 0 || fs::is_empty(mine / "run")));
}

TEST_CASE("when rank 0 cannot make the folder no rank goes on, and the job ends with the status of storage") {
  const auto comm = make_communicator();
  const SharedFolder dir(*comm);
  if (comm->rank() == 0) ddpkit::testing::write_file(dir.path() / "file", "");
  Logger logger({.rank = comm->rank(), .world_size = comm->world_size()});
  try {
    create_run_folder(*comm, {.dir = dir.path() / "file", .name = "run"}, logger);
    FAIL("made a folder below a file");
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::storage);
    CHECK(error.on_all_ranks());
    CHECK(std::string(error.what()).find("file/run") != std::string::npos);
  }
}
