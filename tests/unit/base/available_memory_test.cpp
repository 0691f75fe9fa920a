#include "ddpkit/base/available_memory.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace ddpkit {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

constexpr std::int64_t kMiB = 1 << 20;

/// A tree of files as the kernel shows them.
class SystemFiles {
 public:
  SystemFiles() { write("proc/meminfo", "MemTotal:  100000 kB\nMemFree:  10 kB\nMemAvailable:  51200 kB\nBuffers:  3 kB\n"); }

  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((root() / name).parent_path());
    std::ofstream(root() / name) << content;
  }
  void group(const std::string& name, const std::string& limit, std::int64_t usage, std::int64_t inactive_cache = 0) const {
    write("sys/fs/cgroup" + name + "/memory.max", limit + "\n");
    write("sys/fs/cgroup" + name + "/memory.current", std::to_string(usage) + "\n");
    write("sys/fs/cgroup" + name + "/memory.stat",
          "anon 5\nfile 6\ninactive_file " + std::to_string(inactive_cache) + "\nactive_file 0\n");
  }
  fs::path root() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

std::string mebibytes(std::int64_t count) {
  return std::to_string(count * kMiB);
}

TEST_CASE("Without control groups the node's available memory is what there is") {
  const SystemFiles files;
  CHECK(available_memory(files.root()) == 50 * kMiB);
}

TEST_CASE("Where nothing is told, nothing is known") {
  const TemporaryFolder empty;
  CHECK_FALSE(available_memory(empty.path()).has_value());
}

TEST_CASE("A control group leaves its limit less what is used") {
  const SystemFiles files;
  files.write("proc/self/cgroup", "0::/job\n");
  files.group("/job", mebibytes(40), 10 * kMiB);
  CHECK(available_memory(files.root()) == 30 * kMiB);
}

TEST_CASE("Caches of files count as free") {
  const SystemFiles files;
  files.write("proc/self/cgroup", "0::/job\n");
  files.group("/job", mebibytes(40), 30 * kMiB, 20 * kMiB);
  CHECK(available_memory(files.root()) == 30 * kMiB);
}

TEST_CASE("A group above, and one that is full, bind too") {
  const SystemFiles files;
  files.write("proc/self/cgroup", "0::/user/session/job\n");
  files.group("/user/session/job", "max", 1 * kMiB);
  files.group("/user/session", mebibytes(40), 10 * kMiB);
  files.group("/user", mebibytes(20), 12 * kMiB);
  CHECK(available_memory(files.root()) == 8 * kMiB);
  files.group("/user", mebibytes(20), 21 * kMiB);
  CHECK(available_memory(files.root()) == 0);
}

TEST_CASE("In a container only the top of the host's path is to be seen") {
  const SystemFiles files;
  files.write("proc/self/cgroup", "0::/docker/0123abc\n");
  files.group("", mebibytes(16), 6 * kMiB);
  CHECK(available_memory(files.root()) == 10 * kMiB);
}

TEST_CASE("A control group without a limit leaves the node's memory") {
  const SystemFiles files;
  files.write("proc/self/cgroup", "0::/job\n");
  files.group("/job", "max", 10 * kMiB);
  CHECK(available_memory(files.root()) == 50 * kMiB);
}

TEST_CASE("Control groups of version 1 are read beside an empty version 2") {
  const SystemFiles files;
  files.write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/slurm/job_7\n1:cpuset:/\n0::/\n");
  files.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  files.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "5\n");
  files.write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", mebibytes(32) + "\n");
  files.write("sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", mebibytes(24) + "\n");
  files.write("sys/fs/cgroup/memory/slurm/job_7/memory.stat",
              "inactive_file 1\ntotal_inactive_file " + mebibytes(3) + "\ntotal_active_file " + mebibytes(1) + "\n");
  CHECK(available_memory(files.root()) == 12 * kMiB);
}

TEST_CASE("This machine tells how much memory is left") {
  CHECK(available_memory().value_or(0) > 0);
}

}  // namespace
}  // namespace ddpkit
