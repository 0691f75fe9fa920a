#include "ddpkit/base/placement.hpp"

#include <sched.h>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("allowed cores follow the affinity mask of the process") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  const std::vector<int> all = allowed_cores();
  REQUIRE(static_cast<int>(all.size()) == CPU_COUNT(&before));

  cpu_set_t last;
  CPU_ZERO(&last);
  CPU_SET(static_cast<std::size_t>(all.back()), &last);
  REQUIRE(sched_setaffinity(0, sizeof last, &last) == 0);
  const std::vector<int> bound = allowed_cores();
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(bound == std::vector<int>{all.back()});
}

TEST_CASE("a rank bound to cores of its own uses them all, ranks that share cores divide them") {
  CHECK(threads_for_rank(8, 8, 1) == 8);
  CHECK(threads_for_rank(1, 2, 2) == 1);   // mpirun -np 2 binds each rank to one core
  CHECK(threads_for_rank(4, 16, 4) == 4);  // one quarter each
  CHECK(threads_for_rank(8, 8, 3) == 2);   // all share, the remainder stays idle
  CHECK(threads_for_rank(8, 16, 4) == 4);  // two ranks on each of two sockets
  CHECK(threads_for_rank(2, 2, 4) == 1);   // more ranks than cores
  CHECK(threads_for_rank(64, 64, 3) == 21);
}

TEST_CASE("OMP_NUM_THREADS asks for threads, and nonsense in it for none") {
  const auto asked = [](const char* said) {
    setenv("OMP_NUM_THREADS", said, 1);
    return threads_by_environment();
  };
  CHECK(asked("3") == 3);
  CHECK(asked("4,2") == 4);
  for (const char* nonsense : {"", "0", "-2", "many", "3x", "99999999999"}) CHECK(asked(nonsense) == std::nullopt);
  unsetenv("OMP_NUM_THREADS");
  CHECK(threads_by_environment() == std::nullopt);
}

TEST_CASE("core numbers are written with runs joined") {
  CHECK(format_cores(std::vector{0, 1, 2, 3, 8}) == "0-3,8");
  CHECK(format_cores(std::vector{5}) == "5");
  CHECK(format_cores(std::vector{0, 2, 4, 5}) == "0,2,4-5");
  CHECK(format_cores(std::vector<int>{}) == "-");
}

TEST_CASE("the placement table has one row per rank in straight columns") {
  const std::vector<Placement> placements{{.rank = 0, .host = "alpha", .cores = {0, 1, 2, 3}, .threads = 4, .device = "cuda:0"},
                                          {.rank = 1, .host = "b", .cores = {4, 6}, .threads = 2, .device = "cpu"}};
  CHECK(placement_table(placements) ==
        "rank  host   cores  threads  device\n"
        "   0  alpha  0-3          4  cuda:0\n"
        "   1  b      4,6          2  cpu");
}

TEST_CASE("the placement table warns of ranks that outnumber their cores") {
  const std::vector<Placement> placements{{.rank = 0, .host = "a", .cores = {0}, .threads = 1},
                                          {.rank = 1, .host = "b", .cores = {0}, .threads = 1, .oversubscribed = true},
                                          {.rank = 2, .host = "b", .cores = {0}, .threads = 1, .oversubscribed = true}};
  const std::string table = placement_table(placements);
  CHECK(table.find("\nwarning: more ranks than cores for rank 1, 2:") != std::string::npos);
}
