#include "ddpkit/base/core_time.hpp"

#include <unistd.h>

#include <array>

#include "ddpkit/base/placement.hpp"
#include "ddpkit/base/process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace ddpkit {
namespace {

TEST_CASE("the time of the given cores is added up, and waiting for a disk is not work") {
  const testing::TemporaryFolder root;
  std::filesystem::create_directory(root / "proc");
  testing::write_file(root / "proc/stat",
                      "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 20 30 400 50 6 7 8 0 0\ncpu1 1 0 0 99 0 0 0 0 0 0\n"
                      "cpu10 5 5 5 5 5 5 5 5 0 0\nintr 7\n");
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto both = core_time(std::array{0, 1}, root.path());
  REQUIRE(both);
  CHECK(both->total * ticks == Approx(721));
  CHECK(both->busy * ticks == Approx(172));
  CHECK_FALSE(core_time(std::array{0, 2}, root.path()));
  CHECK_FALSE(core_time({}, root.path()));
}

TEST_CASE("where the system does not tell, there is no time") {
  const testing::TemporaryFolder root;
  CHECK_FALSE(core_time(std::array{0}, root.path()));
}

TEST_CASE("children that were waited for count as own work") {
  const double before = own_core_seconds();
  run_process({.arguments = {"/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"},
               .time_limit = std::chrono::seconds(60)});
  CHECK(own_core_seconds() > before);
}

}  // namespace
}  // namespace ddpkit
