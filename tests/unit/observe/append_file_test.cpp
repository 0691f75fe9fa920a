#include "observe/append_file.hpp"

#include <sys/resource.h>

#include <csignal>
#include <string>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;
using ddpkit::testing::read_file;
using ddpkit::testing::TemporaryFolder;

namespace {

// Files of this process cannot grow beyond so many bytes; stands for a disk that fills up in the middle of a write.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("what a full disk took of a record is cut off again") {
  const TemporaryFolder folder;
  AppendFile file(folder / "f");
  file.append("first line\n");
  {
    const FileSizeLimit limit(15);
    CHECK_THROWS_AS(file.append("second line\n"), StorageError);
  }
  CHECK(read_file(folder / "f") == "first line\n");
  file.append("third line\n");
  CHECK(read_file(folder / "f") == "first line\nthird line\n");
}
