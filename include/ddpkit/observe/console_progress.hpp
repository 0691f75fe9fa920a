#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "ddpkit/base/log.hpp"
#include "ddpkit/observe/clock.hpp"
#include "ddpkit/observe/metric_sink.hpp"
#include "ddpkit/observe/observe_options.hpp"
#include "ddpkit/observe/progress_text.hpp"
#include "ddpkit/observe/rate_meter.hpp"
#include "ddpkit/observe/terminal.hpp"

namespace ddpkit {

/// Shows a run to the person who waits for it: on a screen one bar, redrawn at most ten times a second and cleared before
/// anything is logged; otherwise a line through the logger at the first record, every `progress_every` and at the end. Never
/// both. Evaluations and events are lines of their own either way.
class ConsoleProgress : public MetricSink {
 public:
  struct Setup {
    ProgressDisplay display = ProgressDisplay::automatic;
    std::chrono::milliseconds progress_every = std::chrono::seconds(5);
    std::int64_t total_steps = 0;  ///< 0: not known
    Terminal terminal;
    Clock clock;
  };

  /// `logger` must outlive the display.
  ConsoleProgress(Logger& logger, Setup setup);
  ~ConsoleProgress() override;  ///< leaves the last bar on the screen, with the cursor on the next line

  void write(const MetricRecord& record) override;
  std::string name() const override { return "progress"; }

 private:
  using Time = std::chrono::steady_clock::time_point;

  void show_progress(const MetricRecord& record);
  void draw_bar(Time now);
  void draw();
  void clear();
  bool due(Time now, std::chrono::milliseconds interval) const;

  Logger& logger_;
  Setup setup_;
  RateMeter rate_;
  ProgressView view_;
  std::optional<Time> shown_at_;
  std::mutex screen_;  ///< any thread that logs clears the bar
  bool bar_on_screen_ = false;
};

}  // namespace ddpkit
