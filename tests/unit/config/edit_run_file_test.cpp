#include "ddpkit/config/edit_run_file.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/config/run_file.hpp"

using namespace ddpkit;
using namespace ddpkit::test;

namespace {

const std::vector<SettingEdit> kMicro{{"batch", "micro", "64"}};
const std::vector<SettingEdit> kBoth{{"batch", "micro", "64"}, {"batch", "accumulate", "auto"}};

std::string content_of(const RunFile& file) {
  std::ostringstream content;
  content << std::ifstream(file.path(), std::ios::binary).rdbuf();
  return content.str();
}

}  // namespace

TEST_CASE("a value is replaced where it stands, in flow and in block style, quoted or not") {
  CHECK(edit_settings("batch: {global: 512, micro: auto}  # mine\n", kMicro) == "batch: {global: 512, micro: 64}  # mine\n");
  CHECK(edit_settings("# top\nbatch:\n  micro: 8   # small\n  global: 512\n", kMicro) ==
        "# top\nbatch:\n  micro: 64   # small\n  global: 512\n");
  CHECK(edit_settings("batch: {micro: \"auto\"}\n", kMicro) == "batch: {micro: 64}\n");
}

TEST_CASE("a missing key goes behind the global batch, or first") {
  CHECK(edit_settings("batch: {global: 512}\n", kBoth) == "batch: {global: 512, micro: 64, accumulate: auto}\n");
  CHECK(edit_settings("batch: {accumulate: 2}\n", kMicro) == "batch: {micro: 64, accumulate: 2}\n");
  CHECK(edit_settings("batch: {}\n", kMicro) == "batch: {micro: 64}\n");
  CHECK(edit_settings("batch:\n    global: 512  # all ranks\n    accumulate: 4\nrun: {seed: 1}\n", kMicro) ==
        "batch:\n    global: 512  # all ranks\n    micro: 64\n    accumulate: 4\nrun: {seed: 1}\n");
  CHECK(edit_settings("batch:\n  accumulate: 2\n", kMicro) == "batch:\n  micro: 64\n  accumulate: 2\n");
}

TEST_CASE("a missing section comes last") {
  CHECK(edit_settings("run: {seed: 1}", kMicro) == "run: {seed: 1}\nbatch: {micro: 64}\n");
  CHECK(edit_settings("", kMicro) == "batch: {micro: 64}\n");
  CHECK(edit_settings("# only a comment\n", kBoth) == "# only a comment\nbatch: {micro: 64, accumulate: auto}\n");
  CHECK(edit_settings("{run: {seed: 1}}\n", kMicro) == "{batch: {micro: 64}, run: {seed: 1}}\n");
  CHECK(edit_settings("batch:\nrun: {seed: 1}\n", kMicro) == "batch: {micro: 64}\nrun: {seed: 1}\n");
}

TEST_CASE("line ends of another system stay") {
  CHECK(edit_settings("batch:\r\n  global: 512\r\nrun: {seed: 1}\r\n", kMicro) ==
        "batch:\r\n  global: 512\r\n  micro: 64\r\nrun: {seed: 1}\r\n");
}

TEST_CASE("what cannot be edited safely is refused with what to write by hand") {
  for (const std::string yaml : {"- 1\n- 2\n", "batch: 3\n", "batch: {micro: >\n  64}\n", "batch: {micro: [1, 2]}\n"}) {
    CAPTURE(yaml);
    CHECK_THROWS_AS(edit_settings(yaml, kMicro), ConfigError);
  }
}

TEST_CASE("a file is edited as a whole, and says otherwise what it said") {
  const RunFile file("# tuned by hand\nrun: {seed: 7}  # lucky\nbatch: {global: 256, accumulate: 4}\n");
  edit_run_file(file.path(), kBoth);
  CHECK(content_of(file) == "# tuned by hand\nrun: {seed: 7}  # lucky\nbatch: {global: 256, micro: 64, accumulate: auto}\n");
  CHECK(load_config({.file = file.path()}).config.batch.micro == 64);
}

TEST_CASE("a file that would mean something else afterwards stays as it is") {
  const std::string ends_early = "run: {seed: 1}\n...\n";
  const RunFile file(ends_early);
  CHECK_THROWS_AS(edit_run_file(file.path(), kMicro), ConfigError);
  CHECK(content_of(file) == ends_early);
  CHECK(std::distance(std::filesystem::directory_iterator(file.folder()), {}) == 1);
}

TEST_CASE("a file that cannot be read is an error with its name") {
  CHECK_THROWS_AS(edit_run_file("/nowhere/run.yaml", kMicro), StorageError);
}
