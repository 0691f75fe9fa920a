#include "ddpkit/observe/progress_text.hpp"

#include <limits>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

ProgressView half_way() {
  return {.step = 120,
          .total_steps = 240,
          .epoch = 0.5,
          .samples_per_second = 51234,
          .time_left = std::chrono::seconds(9),
          .values = {{"loss", 0.43211}, {"accuracy", 0.875}, {"lr", 0.08}}};
}

}  // namespace

TEST_CASE("numbers are short and the same in every locale") {
  CHECK(format_metric(0.43211) == "0.4321");
  CHECK(format_metric(1234567) == "1.235e+06");
  CHECK(format_metric(0) == "0");
  CHECK(format_metric(-1e-5) == "-1e-05");
  CHECK(format_metric(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(format_metric(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("durations read as clocks do") {
  const auto seconds = [](double s) { return format_duration(std::chrono::duration<double>(s)); };
  CHECK(seconds(9.4) == "0:09");
  CHECK(seconds(59.7) == "1:00");
  CHECK(seconds(754) == "12:34");
  CHECK(seconds(3723) == "1:02:03");
  CHECK(seconds(3 * 86400 + 4 * 3600 + 5 * 60 + 6) == "3d 04:05:06");
  CHECK(seconds(-5) == "0:00");
}

TEST_CASE("rates take a unit that keeps three digits") {
  CHECK(format_rate(0.5) == "0.5 samples/s");
  CHECK(format_rate(812.4) == "812 samples/s");
  CHECK(format_rate(999.7) == "1k samples/s");
  CHECK(format_rate(51234) == "51.2k samples/s");
  CHECK(format_rate(1280000) == "1.28M samples/s");
}

TEST_CASE("a progress line has step, share, epoch, all values, rate and time left") {
  CHECK(progress_line(half_way()) ==
        "step 120/240 (50%)  epoch 0.50  loss 0.4321  accuracy 0.875  lr 0.08  51.2k samples/s  0:09 left");
}

TEST_CASE("a run of unknown length shows neither share nor time left") {
  ProgressView view = half_way();
  view.total_steps = 0;
  CHECK(progress_line(view) == "step 120  epoch 0.50  loss 0.4321  accuracy 0.875  lr 0.08  51.2k samples/s");
  CHECK(progress_bar(view, 79) == "120  51.2k samples/s  loss 0.4321  lr 0.08");
}

TEST_CASE("a bar is drawn to scale within the width") {
  CHECK(progress_bar(half_way(), 79) == " 50% [=======>      ] 120/240  51.2k samples/s  loss 0.4321  lr 0.08  0:09 left");
  ProgressView done = half_way();
  done.step = 240;
  CHECK(progress_bar(done, 79) == "100% [=========================] 240/240  51.2k samples/s  loss 0.4321  lr 0.08");
  for (int columns = 0; columns < 200; ++columns)
    REQUIRE(progress_bar(half_way(), columns).size() <= static_cast<std::size_t>(columns));
}

TEST_CASE("on a narrow terminal the bar goes first") {
  CHECK(progress_bar(half_way(), 60) == " 50% 120/240  51.2k samples/s  loss 0.4321  lr 0.08  0:09 le");
}

TEST_CASE("the share never shows 100 before the end nor more after it") {
  ProgressView view = half_way();
  view.step = 239;
  CHECK(progress_line(view).find("(99%)") != std::string::npos);
  view.step = 500;
  CHECK(progress_line(view).find("(100%)") != std::string::npos);
}

TEST_CASE("text is cut between characters, never within one") {
  CHECK(first_columns("学習率", 2) == "学習");
  CHECK(first_columns("Größe", 3) == "Grö");
  CHECK(first_columns("ab", 5) == "ab");
  CHECK(first_columns("ab", 0).empty());
  CHECK(first_columns("ab", -3).empty());
}

TEST_CASE("names of metrics cannot send commands to the terminal") {
  ProgressView view;
  view.values = {{"\x1b[2J", 1}};
  CHECK(progress_line(view).find('\x1b') == std::string::npos);
}

TEST_CASE("numbers meant for files stay off the console") {
  ddpkit::ProgressView view;
  view.values = {{"loss", 0.5}, {"grad_norm", 2, ddpkit::Shown::in_files}};
  CHECK(ddpkit::progress_line(view).find("loss 0.5") != std::string::npos);
  CHECK(ddpkit::progress_line(view).find("grad_norm") == std::string::npos);
}
