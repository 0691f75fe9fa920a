#include "ddpkit/base/text.hpp"

#include <string_view>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("edit distance counts insertions, deletions, replacements and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("lr", "") == 2);
  CHECK(edit_distance("warmup", "wramup") == 1);
  CHECK(edit_distance("global", "globl") == 1);
  CHECK(edit_distance("global", "glabol") == 2);
}

TEST_CASE("the nearest name is offered for a typing error and not for another word") {
  const std::vector<std::string_view> names{"global", "micro", "accumulate"};
  CHECK(nearest_name("gobal", names) == "global");
  CHECK(nearest_name("acumulate", names) == "accumulate");
  CHECK(nearest_name("verbosity", names).empty());
}
