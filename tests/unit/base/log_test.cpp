#include "ddpkit/base/log.hpp"

#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "support/captured_stderr.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;
using ddpkit::testing::CapturedStderr;
using ddpkit::testing::TemporaryFolder;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What a logger with these options writes to standard error while `use` has it.
template <class Use>
std::vector<std::string> logged(const Logger::Options& options, Use use) {
  const CapturedStderr captured;
  Logger logger(options);
  use(logger);
  return lines_of(captured.text());
}

std::string after_time(const std::string& line) {
  return line.size() > 13 ? line.substr(13) : line;
}

}  // namespace

TEST_CASE("a record is one line with time, level, rank, component and text") {
  const auto lines = logged({.rank = 3, .world_size = 8}, [](Logger& log) { log.warning("trainer", "loss is not finite"); });
  REQUIRE(lines.size() == 1);
  const std::regex shape(R"(\d\d:\d\d:\d\d\.\d\d\d warn  \[rank 3/8\] trainer: loss is not finite)");
  CHECK(std::regex_match(lines[0], shape));
}

TEST_CASE("information comes from rank 0 only, warnings and errors from every rank") {
  const auto say_all = [](Logger& log) {
    log.debug("c", "d");
    log.info("c", "i");
    log.warning("c", "w");
    log.error("c", "e");
  };
  const auto first = logged({.rank = 0, .world_size = 2}, say_all);
  REQUIRE(first.size() == 3);
  CHECK(after_time(first[0]) == "info  [rank 0/2] c: i");
  CHECK(logged({.rank = 1, .world_size = 2}, say_all).size() == 2);
  CHECK(logged({.rank = 1, .world_size = 2, .level = LogLevel::debug}, say_all).size() == 3);
  CHECK(logged({.rank = 0, .world_size = 2, .level = LogLevel::error}, say_all).size() == 1);
}

TEST_CASE("a text of several lines becomes whole lines with one time") {
  const auto lines = logged({}, [](Logger& log) { log.info("place", "rank host\n0 alpha\n"); });
  REQUIRE(lines.size() == 2);
  CHECK(after_time(lines[0]) == "info  [rank 0/1] place: rank host");
  CHECK(after_time(lines[1]) == "info  [rank 0/1] place: 0 alpha");
  CHECK(lines[0].substr(0, 13) == lines[1].substr(0, 13));
}

TEST_CASE("escape sequences, format marks and broken UTF-8 in a text are shown as they are") {
  const auto lines = logged({}, [](Logger& log) {
    log.info("c", "\x1b[31mred\r \xff {} {0} %v %n");
    log.info("c\nfake", "");
  });
  REQUIRE(lines.size() == 2);
  CHECK(after_time(lines[0]) == "info  [rank 0/1] c: \\x1b[31mred\\x0d \\xff {} {0} %v %n");
  CHECK(after_time(lines[1]) == "info  [rank 0/1] c\\x0afake: ");
}

TEST_CASE("records go to a file as well once asked to, and are appended") {
  const TemporaryFolder folder;
  const auto write_one = [&](const char* text) {
    return logged({}, [&](Logger& log) {
      log.also_write_to((folder / "log.txt").string());
      log.info("c", text);
    });
  };
  const auto first = write_one("one");
  const auto second = write_one("two");
  CHECK(lines_of(ddpkit::testing::read_file(folder / "log.txt")) == std::vector{first.at(0), second.at(0)});
}

TEST_CASE("a log file that cannot be opened is a storage error that names it") {
  const TemporaryFolder folder;
  ddpkit::testing::write_file(folder / "file", "");
  Logger logger({});
  try {
    logger.also_write_to((folder / "file/log.txt").string());
    FAIL("opened a file below a file");
  } catch (const StorageError& error) {
    CHECK(std::string(error.what()).find("file/log.txt") != std::string::npos);
  }
}

TEST_CASE("a full disk under the log file is told once and stops nobody") {
  const auto lines = logged({}, [](Logger& log) {
    log.also_write_to("/dev/full");
    for (int i = 0; i < 3; ++i) log.info("c", "text");
  });
  CHECK(lines.size() == 4);
}

TEST_CASE("lines of several threads stay whole and the hook runs before each record") {
  int calls = 0;
  const auto lines = logged({}, [&](Logger& log) {
    log.before_each_record([&] { ++calls; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&log] {
        for (int i = 0; i < 50; ++i) log.info("thread", std::string(200, 'x'));
      });
    for (std::thread& thread : threads) thread.join();
    log.before_each_record({});
    log.info("thread", std::string(200, 'x'));
  });
  CHECK(calls == 200);
  REQUIRE(lines.size() == 201);
  for (const std::string& line : lines) REQUIRE(after_time(line) == "info  [rank 0/1] thread: " + std::string(200, 'x'));
}
