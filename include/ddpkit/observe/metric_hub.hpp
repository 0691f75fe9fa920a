#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ddpkit/base/log.hpp"
#include "ddpkit/observe/metric_sink.hpp"

namespace ddpkit {

/// Feeds the same records to all sinks. A sink that fails is named in one warning and left out from then on: a full disk under
/// the metrics does not stop training. Not thread-safe, not collective. Ranks other than 0 have a hub without sinks.
class MetricHub {
 public:
  /// `logger` must outlive the hub.
  explicit MetricHub(Logger& logger) : logger_(logger) {}

  void add(std::unique_ptr<MetricSink> sink);

  /// Adds what `open` returns; when it throws a StorageError the warning comes now.
  void add(const std::string& name, const std::function<std::unique_ptr<MetricSink>()>& open);

  void write(const MetricRecord& record);
  void flush();

 private:
  void for_each_sink(const std::function<void(MetricSink&)>& use);
  void warn(const std::string& name, const std::exception& failure);

  Logger& logger_;
  std::vector<std::unique_ptr<MetricSink>> sinks_;
};

}  // namespace ddpkit
