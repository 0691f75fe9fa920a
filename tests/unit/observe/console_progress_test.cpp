#include "ddpkit/observe/console_progress.hpp"

#include <optional>
#include <regex>
#include <string>
#include <thread>

#include "support/captured_stderr.hpp"
#include "support/catch.hpp"
#include "unit/observe/fake_clock.hpp"

using namespace ddpkit;
using namespace std::chrono_literals;
using ddpkit::testing::CapturedStderr;
using ddpkit::testing::FakeClock;

namespace {

MetricRecord train_record(std::int64_t step) {
  return {.kind = RecordKind::train,
          .step = step,
          .epoch = 0.5,
          .samples = step * 100,
          .time = {},
          .values = {{"loss", 0.25}},
          .text = {}};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// A display on a made-up terminal, with a clock that stands.
class Stage {
 public:
  explicit Stage(Terminal::Kind kind, ProgressDisplay display = ProgressDisplay::automatic) {
    show_.emplace(logger_, ConsoleProgress::Setup{.display = display,
                                                  .progress_every = 5s,
                                                  .total_steps = 100,
                                                  .terminal = {.kind = kind,
                                                               .columns = [this] { return columns_; },
                                                               .write = [this](std::string_view s) { drawn_ += s; }},
                                                  .clock = time_.clock()});
  }

  void write(const MetricRecord& record, std::chrono::milliseconds later = 0ms) {
    time_.advance(later);
    show_->write(record);
  }
  void end() { show_.reset(); }
  Logger& logger() { return logger_; }
  std::string drawn() const { return drawn_; }
  std::string logged() const { return captured_.text(); }
  void resize(int columns) { columns_ = columns; }

 private:
  CapturedStderr captured_;
  Logger logger_{{}};
  FakeClock time_;
  int columns_ = 80;
  std::string drawn_;
  std::optional<ConsoleProgress> show_;
};

}  // namespace

TEST_CASE("on a screen there is a bar and no line, elsewhere lines and no bar") {
  Stage screen(Terminal::Kind::screen);
  screen.write(train_record(10));
  CHECK(count_of(screen.drawn(), "10/100") == 1);
  CHECK(screen.logged().empty());

  Stage stream(Terminal::Kind::stream);
  stream.write(train_record(10));
  CHECK(stream.drawn().empty());
  CHECK(count_of(stream.logged(), "train: step 10/100 (10%)  epoch 0.50  loss 0.25") == 1);
}

TEST_CASE("the option overrules the terminal, and off shows nothing") {
  Stage bar(Terminal::Kind::stream, ProgressDisplay::bar);
  bar.write(train_record(10));
  CHECK_FALSE(bar.drawn().empty());

  Stage lines(Terminal::Kind::screen, ProgressDisplay::lines);
  lines.write(train_record(10));
  CHECK(lines.drawn().empty());
  CHECK_FALSE(lines.logged().empty());

  Stage off(Terminal::Kind::screen, ProgressDisplay::off);
  off.write(train_record(10));
  off.write({.kind = RecordKind::event, .time = {}, .values = {}, .text = "stop"});
  off.end();
  CHECK(off.drawn().empty());
  CHECK(off.logged().empty());
}

TEST_CASE("the bar is redrawn at most ten times a second and its last state stays") {
  Stage stage(Terminal::Kind::screen);
  for (int step = 1; step <= 100; ++step) stage.write(train_record(step), 10ms);
  CHECK(count_of(stage.drawn(), "\r\x1b[K") == 10);
  CHECK(count_of(stage.drawn(), "100/100") == 0);
  stage.end();
  const std::string drawn = stage.drawn();
  CHECK(count_of(drawn, "100/100  10k samples/s") == 1);
  CHECK(drawn.back() == '\n');
  CHECK(count_of(drawn, "\n") == 1);
}

TEST_CASE("the bar is cleared before a log record and drawn again after it") {
  Stage stage(Terminal::Kind::screen);
  stage.write(train_record(1));
  stage.logger().warning("c", "careful");
  const std::string drawn = stage.drawn();
  CHECK(drawn.substr(drawn.size() - 4) == "\r\x1b[K");
  stage.logger().warning("c", "twice");
  CHECK(stage.drawn() == drawn);
  stage.write(train_record(2), 100ms);
  CHECK(count_of(stage.drawn(), "2/100") == 1);
  stage.end();
  stage.logger().warning("c", "the display is gone");
}

TEST_CASE("another thread may log while the bar is drawn") {
  Stage stage(Terminal::Kind::screen);
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) stage.logger().warning("c", "text");
  });
  for (int step = 1; step <= 100; ++step) stage.write(train_record(step), 100ms);
  other.join();
  CHECK(count_of(stage.logged(), "\n") == 200);
  CHECK(count_of(stage.drawn(), "100/100") == 1);
}

TEST_CASE("the bar follows the width of the terminal") {
  Stage stage(Terminal::Kind::screen);
  stage.resize(20);
  stage.write(train_record(1));
  CHECK(stage.drawn().size() <= 4 + 19);
}

TEST_CASE("lines come first, every five seconds and last") {
  Stage stage(Terminal::Kind::stream);
  for (int step = 1; step <= 100; ++step) stage.write(train_record(step), 100ms);  // ten seconds
  const std::string logged = stage.logged();
  CHECK(count_of(logged, "\n") == 3);
  CHECK(count_of(logged, "step 1/100") == 1);
  CHECK(count_of(logged, "step 51/100 (51%)  epoch 0.50  loss 0.25  1k samples/s  0:05 left") == 1);
  CHECK(count_of(logged, "step 100/100") == 1);
}

TEST_CASE("evaluations and events are lines of their own on a screen too") {
  for (const Terminal::Kind kind : {Terminal::Kind::screen, Terminal::Kind::stream}) {
    Stage stage(kind);
    stage.write({.kind = RecordKind::valid, .step = 50, .epoch = 1, .time = {}, .values = {{"accuracy", 0.9}}, .text = {}});
    stage.write({.kind = RecordKind::event, .step = 50, .time = {}, .values = {}, .text = "stopped early"});
    CHECK(count_of(stage.logged(), "valid: step 50  epoch 1.00  accuracy 0.9\n") == 1);
    CHECK(count_of(stage.logged(), "trainer: stopped early\n") == 1);
  }
}

TEST_CASE("an event that the log tells in other words is not shown twice") {
  Stage stream(Terminal::Kind::stream);
  stream.write({.kind = RecordKind::event, .time = {}, .values = {}, .text = "micro-batch halved", .shown = Shown::in_files});
  CHECK(stream.logged().empty());
  stream.write({.kind = RecordKind::event, .time = {}, .values = {}, .text = "training begins"});
  CHECK(count_of(stream.logged(), "training begins") == 1);
}
