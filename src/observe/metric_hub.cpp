#include "ddpkit/observe/metric_hub.hpp"

#include <algorithm>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

void MetricHub::add(std::unique_ptr<MetricSink> sink) {
  sinks_.push_back(std::move(sink));
}

void MetricHub::add(const std::string& name, const std::function<std::unique_ptr<MetricSink>()>& open) {
  try {
    add(open());
  } catch (const StorageError& failure) {
    warn(name, failure);
  }
}

void MetricHub::write(const MetricRecord& record) {
  for_each_sink([&](MetricSink& sink) { sink.write(record); });
}

void MetricHub::flush() {
  for_each_sink([](MetricSink& sink) { sink.flush(); });
}

void MetricHub::for_each_sink(const std::function<void(MetricSink&)>& use) {
  std::erase_if(sinks_, [&](const std::unique_ptr<MetricSink>& sink) {
    try {
      use(*sink);
      return false;
    } catch (const StorageError& failure) {
      warn(sink->name(), failure);
      return true;
    }
  });
}

void MetricHub::warn(const std::string& name, const std::exception& failure) {
  logger_.warning("metrics", text(name, " is turned off, training goes on: ", failure.what()));
}

}  // namespace ddpkit
