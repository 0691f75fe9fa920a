#include "ddpkit/observe/terminal.hpp"

#include "support/captured_stderr.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("standard error in a file is a stream and takes what is written") {
  const ddpkit::testing::CapturedStderr captured;
  const Terminal terminal = standard_error();
  CHECK(terminal.kind == Terminal::Kind::stream);
  CHECK(terminal.columns() > 0);
  terminal.write("text");
  CHECK(captured.text() == "text");
}
