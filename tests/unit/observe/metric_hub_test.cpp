#include "ddpkit/observe/metric_hub.hpp"

#include <algorithm>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/observe/jsonl_sink.hpp"
#include "support/captured_stderr.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using ddpkit::testing::CapturedStderr;

namespace {

class CountingSink : public MetricSink {
 public:
  explicit CountingSink(int& records) : records_(records) {}
  void write(const MetricRecord&) override { ++records_; }
  std::string name() const override { return "count"; }

 private:
  int& records_;
};

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("every sink gets every record") {
  Logger logger({});
  MetricHub hub(logger);
  int a = 0, b = 0;
  hub.add(std::make_unique<CountingSink>(a));
  hub.add(std::make_unique<CountingSink>(b));
  for (int i = 0; i < 3; ++i) hub.write({});
  hub.flush();
  CHECK(a == 3);
  CHECK(b == 3);
}

TEST_CASE("a sink on a full disk is named once and left out, the others go on") {
  const CapturedStderr captured;
  Logger logger({});
  MetricHub hub(logger);
  int records = 0;
  hub.add(std::make_unique<JsonlSink>("/dev/full"));
  hub.add(std::make_unique<CountingSink>(records));
  for (int i = 0; i < 3; ++i) hub.write({});
  CHECK(records == 3);
  CHECK(lines_in(captured.text()) == 1);
  CHECK(captured.text().find("metrics: metrics.jsonl is turned off, training goes on: cannot write to /dev/full") !=
        std::string::npos);
}

TEST_CASE("a sink that cannot be opened is a warning and not an end") {
  const CapturedStderr captured;
  Logger logger({});
  MetricHub hub(logger);
  hub.add("metrics.jsonl", [] { return std::make_unique<JsonlSink>("/dev/null/metrics.jsonl"); });
  hub.write({});
  CHECK(lines_in(captured.text()) == 1);
}
