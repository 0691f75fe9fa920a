#include "ddpkit/observe/tensorboard_sink.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "observe/tensorboard_event.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "unit/observe/fake_clock.hpp"

using namespace ddpkit;
using ddpkit::testing::FakeClock;
using ddpkit::testing::read_file;
using ddpkit::testing::TemporaryFolder;

namespace {

std::string hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    out += kDigits[static_cast<unsigned char>(byte) >> 4];
    out += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return out;
}

const MetricRecord kRecord{.kind = RecordKind::train,
                           .step = 300,
                           .epoch = 0.5,
                           .samples = 5120,
                           .time = std::chrono::system_clock::time_point(std::chrono::milliseconds(1500)),
                           .values = {{"loss", 0.25}, {"lr", 0.5}},
                           .text = {}};

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

}  // namespace

// The bytes that TensorBoard 2.21's own RecordWriter writes for the same events in Python.

TEST_CASE("the event that opens a file equals TensorBoard's own to the byte") {
  CHECK(hex(framed(version_event(kRecord.time))) ==
        "1800000000000000a37f4b22"
        "09000000000000f83f1a0d627261696e2e4576656e743a32"
        "2a28646c");
}

TEST_CASE("an event with two scalars equals TensorBoard's own to the byte") {
  CHECK(hex(framed(metric_event(kRecord))) ==
        "3200000000000000241956ec"
        "09000000000000f83f10ac022a240a110a0a747261696e2f6c6f7373150000803e0a0f0a08747261696e2f6c72150000003f"
        "90e1e130");
}

TEST_CASE("an event with text equals TensorBoard's own to the byte") {
  MetricRecord record = kRecord;
  record.kind = RecordKind::event;
  record.values.clear();
  record.text = "stop";
  CHECK(hex(metric_event(record)) ==
        "09000000000000f83f10ac022a280a260a0a6576656e742f74657874"
        "420e0807120412020801420473746f704a080a060a0474657874");
}

TEST_CASE("each sink starts a file of its own, named so that TensorBoard finds it, with the version first") {
  const TemporaryFolder folder;
  FakeClock time;
  TensorBoardSink first(folder.path(), time.clock()), second(folder.path(), time.clock());
  first.write(kRecord);
  const auto files = files_in(folder.path());
  REQUIRE(files.size() == 2);
  for (const auto& file : files) {
    CHECK(file.filename().string().starts_with("events.out.tfevents.1796048823."));
    CHECK(read_file(file).starts_with(framed(version_event(FakeClock::start()))));
  }
  const std::string whole = framed(version_event(FakeClock::start())) + framed(metric_event(kRecord));
  CHECK((read_file(files[0]) == whole || read_file(files[1]) == whole));
}
