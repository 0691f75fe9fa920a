#include "ddpkit/config/user_settings.hpp"

#include <string>
#include <type_traits>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "unit/config/run_file.hpp"

using namespace ddpkit;
using namespace ddpkit::test;

TEST_CASE("a user setting has the type of its fallback") {
  const auto user = load("user: {hidden: 128, rate: 1e-3, name: wide, fast: true}").config.user;
  CHECK(user("hidden", 256) == 128);
  CHECK(user("rate", 0.1) == 1e-3);
  CHECK(user("hidden", 0.5) == 128.0);
  CHECK(user("name", "narrow") == "wide");
  CHECK(user("fast", false));
  static_assert(std::is_same_v<decltype(user("hidden", 256)), std::int64_t>);
  static_assert(std::is_same_v<decltype(user("name", "narrow")), std::string>);
  static_assert(std::is_same_v<decltype(user("fast", false)), bool>);
}

TEST_CASE("a user setting that nobody gave is the fallback") {
  const UserSettings user;
  CHECK(user("hidden", 256) == 256);
  CHECK(user("name", std::string("narrow")) == "narrow");
}

TEST_CASE("a user setting of another type is refused with its place") {
  const RunFile file("user:\n  hidden: wide\n");
  const auto user = load_config({.file = file.path()}).config.user;
  try {
    user("hidden", 256);
    FAIL("read a word as a number");
  } catch (const ConfigError& error) {
    CHECK(error.what() == file.path() + ":2:11: user.hidden: expected a whole number, got wide");
  }
}

TEST_CASE("user settings come from program, file and overrides like all others") {
  RunConfig program;
  program.user.set("hidden", "1");
  program.user.set("layers", "2");
  program.user.set("width", "3");
  const LoadedConfig loaded = load("user: {layers: 20, width: 30}", {"user.width=300"}, program);
  CHECK(loaded.config.user("hidden", 0) == 1);
  CHECK(loaded.config.user("layers", 0) == 20);
  CHECK(loaded.config.user("width", 0) == 300);
  CHECK(loaded.origins.of("user.hidden") == "program");
  CHECK(loaded.origins.of("user.width") == "--set");
}
