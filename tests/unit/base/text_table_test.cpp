#include "ddpkit/base/text_table.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

TEST_CASE("columns are as wide as their widest cell, in characters") {
  TextTable table({{"size", TextTable::Align::left}, {"µs"}});
  table.add({"a", "12"});
  table.add({"größer", "3"});
  CHECK(table.str() == "size    µs\na       12\ngrößer   3");
}

TEST_CASE("a table has no trailing spaces") {
  TextTable table({{"n"}, {"note", TextTable::Align::left}});
  table.add({"1", "long note"});
  table.add({"2", ""});
  CHECK(table.str() == "n  note\n1  long note\n2");
}

TEST_CASE("a row without a cell for each column is refused") {
  TextTable table({{"a"}, {"b"}});
  CHECK_THROWS_AS(table.add({"1"}), UsageError);
}

}  // namespace
}  // namespace ddpkit
