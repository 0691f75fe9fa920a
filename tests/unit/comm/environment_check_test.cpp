#include "comm/environment_check.hpp"

#include <map>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

const Topology kSecondOfFour{
    .rank = 1, .world_size = 4, .local_rank = 1, .local_size = 2, .node = 0, .node_count = 2, .host = "a"};

}  // namespace

TEST_CASE("variables that agree with MPI are no news") {
  CHECK(contradiction(kSecondOfFour, variables({})).empty());
  CHECK(contradiction(kSecondOfFour, variables({{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}})).empty());
}

TEST_CASE("variables that contradict MPI are named and ignored") {
  CHECK(contradiction(kSecondOfFour, variables({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "seven"}})) ==
        "ignoring RANK=0, LOCAL_RANK=seven from the environment: this is rank 1 of 4, local rank 1 of 2");
}

TEST_CASE("a launcher of many whose MPI finds one means two MPI libraries") {
  LaunchEnvironment launcher;
  launcher.under_launcher = true;
  launcher.world_size = 4;
  const Topology alone;
  CHECK_THROWS_AS(check_launcher(launcher, alone), CommError);
  CHECK_THROWS_WITH(check_launcher(launcher, alone), Catch::Matchers::Contains("another MPI"));
  CHECK_NOTHROW(check_launcher(launcher, kSecondOfFour));
  CHECK_NOTHROW(check_launcher(LaunchEnvironment{}, alone));
}
