#pragma once

#include <filesystem>
#include <memory>

#include "ddpkit/observe/clock.hpp"
#include "ddpkit/observe/metric_sink.hpp"

namespace ddpkit {

class AppendFile;

/// A TensorBoard event file `events.out.tfevents.<seconds>.<host>.<pid>` in a folder; each process starts its own. A metric is
/// a scalar named "<kind>/<name>", as in "train/loss"; a record's text is a text summary named "<kind>/text".
class TensorBoardSink : public MetricSink {
 public:
  /// Throws StorageError when the file cannot be made.
  explicit TensorBoardSink(const std::filesystem::path& folder, const Clock& clock = {});
  ~TensorBoardSink() override;

  void write(const MetricRecord& record) override;
  void flush() override;
  std::string name() const override { return "TensorBoard events"; }

 private:
  std::unique_ptr<AppendFile> file_;
};

}  // namespace ddpkit
