#include "ddpkit/tune/tune_report.hpp"

#include <algorithm>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// t(b) = 1 ms + b / 1000 per second, and 1 MiB a sample beside 10.
BatchProfile linear_profile() {
  BatchProfile profile{.model = "toy", .world_size = 2, .memory_limit = 200 * kMiB, .memory_target = 0.9, .dataset = 6000};
  for (const std::int64_t micro : {1, 2, 4, 8, 16, 32, 64})
    profile.measured.push_back({.micro = micro,
                                .seconds = 0.001 + static_cast<double>(micro) / 1000,
                                .half_width = 1e-5,
                                .repeats = 10,
                                .peak_bytes = (10 + micro) * kMiB,
                                .utilisation = 0.95});
  return profile;
}

TuneResult linear_result() {
  TuneResult result{.profile = linear_profile(), .predicted_step_seconds = 0.05};
  result.profile.choice = BatchPlan{.global = 64, .micro = 16, .accumulate = 2};
  result.choice.chosen.plan = *result.profile.choice;
  result.choice.explanation = "micro 16: enough";
  result.verified.plan = *result.profile.choice;
  result.verified.step = {0.055, 0.001};
  result.notes = {"rank 1 has the least memory"};
  return result;
}

bool has_guide(const Chart& chart, double at, const std::string& words) {
  return std::ranges::any_of(chart.guides, [&](const Chart::Guide& guide) {
    return guide.at == Approx(at).epsilon(0.05) && guide.label.find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("the text tells sizes, fit, choice, check, notes and the line to paste") {
  const std::string words = tune_text(linear_result());
  INFO(words);
  for (const std::string part :
       {"<- chosen", "1 ms + b / 1,000", "is at micro 9", "micro 16: enough", "predicted to take 50 ms", "took 55 ms (+10 %)",
        "note: rank 1", "batch: {global: 64, micro: 16, accumulate: 2}"})
    CHECK(words.find(part) != std::string::npos);
}

TEST_CASE("sizes that ran out of memory stand in the table") {
  TuneResult result = linear_result();
  result.profile.out_of_memory = {128};
  CHECK(tune_text(result).find("out of memory") != std::string::npos);
}

TEST_CASE("the picture has measurements with intervals, the fit, knee, end of memory and choice") {
  BatchProfile profile = linear_profile();
  profile.choice = BatchPlan{.global = 64, .micro = 16, .accumulate = 2};
  const Chart chart = throughput_chart(profile);
  REQUIRE(chart.series.size() == 3);
  const auto points = std::ranges::find(chart.series, Chart::Mark::points, &Chart::Series::mark);
  REQUIRE(points != chart.series.end());
  CHECK(points->points.size() == 7);
  CHECK(points->points[3].y == Approx(8 / 0.009));
  CHECK(points->points[3].low < points->points[3].y);
  CHECK(points->points[3].high > points->points[3].y);
  CHECK(has_guide(chart, 9, "knee"));
  CHECK(has_guide(chart, 16, "choice"));
  CHECK(has_guide(chart, 170, "90 % of memory"));
}

TEST_CASE("a size that ran out of memory is where memory ends in the picture") {
  BatchProfile profile = linear_profile();
  profile.out_of_memory = {96};
  CHECK(has_guide(throughput_chart(profile), 96, "out of memory"));
}

TEST_CASE("without measurements the picture is empty, not an error") {
  CHECK(throughput_chart({.model = "none"}).series.empty());
}
