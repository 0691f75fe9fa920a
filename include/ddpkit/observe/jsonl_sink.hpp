#pragma once

#include <filesystem>
#include <memory>

#include "ddpkit/observe/metric_sink.hpp"

namespace ddpkit {

class AppendFile;

/// `metrics.jsonl`: one JSON object per line, only ever appended to. A line reaches the file in one write, so that a kill
/// leaves no half of it; where a crash of the machine did, the half line is cut off when the file is opened again. A run that
/// resumes goes on in the same file: of two lines for one step and kind the later one holds.
///
/// {"schema":1,"kind":"train","step":10,"epoch":0.5,"samples":5120,"time":1764510000.25,"values":{"loss":0.5},"text":"..."}
///
/// `time` is in seconds since 1970, `text` is left out when empty. JSON knows no infinities: such a value is null, and
/// "nonfinite":{"loss":"nan"} ("nan", "inf" or "-inf") says which it was.
class JsonlSink : public MetricSink {
 public:
  /// Throws StorageError when the file cannot be opened.
  explicit JsonlSink(const std::filesystem::path& path);
  ~JsonlSink() override;

  void write(const MetricRecord& record) override;
  void flush() override;
  std::string name() const override { return "metrics.jsonl"; }

 private:
  std::unique_ptr<AppendFile> file_;
};

}  // namespace ddpkit
