#include "ddpkit/observe/console_progress.hpp"

#include <utility>

#include "ddpkit/base/printable.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::string_view kClearLine = "\r\x1b[K";

ProgressDisplay decide(ProgressDisplay wanted, Terminal::Kind kind) {
  if (wanted != ProgressDisplay::automatic) return wanted;
  return kind == Terminal::Kind::screen ? ProgressDisplay::bar : ProgressDisplay::lines;
}

// An evaluation or event in a line: no rate, no time left.
std::string line_of(const MetricRecord& record) {
  ProgressView view;
  view.step = record.step;
  view.epoch = record.epoch;
  view.values = record.values;
  std::string line = progress_line(view);
  if (!record.text.empty()) line = record.values.empty() ? record.text : line + "  " + record.text;
  return line;
}

}  // namespace

ConsoleProgress::ConsoleProgress(Logger& logger, Setup setup) : logger_(logger), setup_(std::move(setup)) {
  setup_.display = decide(setup_.display, setup_.terminal.kind);
  if (setup_.display == ProgressDisplay::bar) logger_.before_each_record([this] { clear(); });
}

ConsoleProgress::~ConsoleProgress() {
  if (setup_.display != ProgressDisplay::bar) return;
  logger_.before_each_record({});
  if (!shown_at_) return;
  draw();
  setup_.terminal.write("\n");
}

void ConsoleProgress::write(const MetricRecord& record) {
  if (setup_.display == ProgressDisplay::off || record.shown == Shown::in_files) return;
  if (record.kind == RecordKind::train) return show_progress(record);
  logger_.info(record.kind == RecordKind::event ? "trainer" : name_of(record.kind), line_of(record));
}

void ConsoleProgress::show_progress(const MetricRecord& record) {
  const Time now = setup_.clock.now();
  rate_.update(now, record.step, record.samples);
  view_ = {.step = record.step,
           .total_steps = setup_.total_steps,
           .epoch = record.epoch,
           .samples_per_second = rate_.samples_per_second(),
           .time_left = rate_.time_left(setup_.total_steps),
           .values = record.values};
  if (setup_.display == ProgressDisplay::bar) return draw_bar(now);
  const bool last = setup_.total_steps > 0 && record.step >= setup_.total_steps;
  if (!last && !due(now, setup_.progress_every)) return;
  shown_at_ = now;
  logger_.info("train", progress_line(view_));
}

void ConsoleProgress::draw_bar(Time now) {
  if (!due(now, kRedraw)) return;
  shown_at_ = now;
  draw();
}

// One column stays free: some terminals wrap as soon as the last one is written.
void ConsoleProgress::draw() {
  const std::lock_guard lock(screen_);
  setup_.terminal.write(text(kClearLine, progress_bar(view_, setup_.terminal.columns() - 1)));
  bar_on_screen_ = true;
}

void ConsoleProgress::clear() {
  const std::lock_guard lock(screen_);
  if (std::exchange(bar_on_screen_, false)) setup_.terminal.write(kClearLine);
}

bool ConsoleProgress::due(Time now, std::chrono::milliseconds interval) const {
  return !shown_at_ || now - *shown_at_ >= interval;
}

}  // namespace ddpkit
