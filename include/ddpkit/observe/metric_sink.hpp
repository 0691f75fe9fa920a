#pragma once

#include <string>

#include "ddpkit/observe/metric_record.hpp"

namespace ddpkit {

/// Where metric records go. Lives on rank 0 and is called from one thread.
class MetricSink {
 public:
  virtual ~MetricSink() = default;

  /// Takes one record. Throws StorageError when it cannot be kept; the hub then drops the sink.
  virtual void write(const MetricRecord& record) = 0;

  /// Returns when what was written survives the end of this process.
  virtual void flush() {}

  /// What a warning calls it: "metrics.jsonl".
  virtual std::string name() const = 0;
};

}  // namespace ddpkit
