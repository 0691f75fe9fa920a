#include "ddpkit/observe/jsonl_sink.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "observe/append_file.hpp"

namespace ddpkit {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

const char* name_of_nonfinite(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

// By way of whole milliseconds, which divide to the number that reads as they do.
double seconds_of(std::chrono::system_clock::time_point time) {
  return static_cast<double>(std::chrono::round<std::chrono::milliseconds>(time.time_since_epoch()).count()) / 1000;
}

Json to_json(const MetricRecord& record) {
  Json json{{"schema", kSchema}, {"kind", name_of(record.kind)}, {"step", record.step}, {"epoch", record.epoch}};
  json["samples"] = record.samples;
  json["time"] = seconds_of(record.time);
  json["values"] = Json::object();
  for (const Metric& metric : record.values) {
    json["values"][metric.name] = metric.value;  // the library writes null for what is not finite
    if (!std::isfinite(metric.value)) json["nonfinite"][metric.name] = name_of_nonfinite(metric.value);
  }
  if (!record.text.empty()) json["text"] = record.text;
  return json;
}

}  // namespace

JsonlSink::JsonlSink(const std::filesystem::path& path) : file_(std::make_unique<AppendFile>(path)) {
  file_->drop_torn_line();
}

JsonlSink::~JsonlSink() = default;

void JsonlSink::write(const MetricRecord& record) {
  file_->append(to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n');
}

void JsonlSink::flush() {
  file_->sync();
}

}  // namespace ddpkit
