#include "ddpkit/observe/tensorboard_sink.hpp"

#include <unistd.h>

#include "ddpkit/base/text.hpp"
#include "observe/append_file.hpp"
#include "observe/tensorboard_event.hpp"

namespace ddpkit {
namespace {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

// Two sinks of one process in one folder and second would meet in one file without the last number.
std::filesystem::path unused_name(const std::filesystem::path& folder, std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  for (int number = 0;; ++number) {
    const auto path = folder / text("events.out.tfevents.", seconds, '.', host_name(), '.', ::getpid(), '.', number);
    std::error_code unreadable;
    if (!std::filesystem::exists(path, unreadable)) return path;
  }
}

}  // namespace

TensorBoardSink::TensorBoardSink(const std::filesystem::path& folder, const Clock& clock) {
  const auto now = clock.wall();
  file_ = std::make_unique<AppendFile>(unused_name(folder, now));
  file_->append(framed(version_event(now)));
}

TensorBoardSink::~TensorBoardSink() = default;

void TensorBoardSink::write(const MetricRecord& record) {
  file_->append(framed(metric_event(record)));
}

void TensorBoardSink::flush() {
  file_->sync();
}

}  // namespace ddpkit
