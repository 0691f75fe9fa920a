#include "ddpkit/tune/probe_report.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

ProbeReport good_report() {
  return {.world_size = 2,
          .summary = {.plan = {.global = 256, .micro = 64, .accumulate = 2},
                      .windows = 10,
                      .step = {0.02, 0.001},
                      .micro = {0.008, 0.0001},
                      .phases = {.data = 0.0001, .forward = 0.006, .backward = 0.01, .reduce = 0.0009, .update = 0.003},
                      .utilisation = 0.95,
                      .data_share = 0.005,
                      .communication_share = 0.045,
                      .peaks = {.forward = 90 * kMebibyte, .backward = 100 * kMebibyte, .optimizer = 40 * kMebibyte},
                      .memory = {{90 * kMebibyte, 200 * kMebibyte}, {100 * kMebibyte, 200 * kMebibyte}}}};
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a batch that fits is told with headroom, phase and rank") {
  const std::string words = verdict(good_report());
  INFO(words);
  CHECK(says(words, "fits: 100 MiB of 200 MiB (50 %) at the peak, in backward on rank 1; memory.target is 90 %"));
  CHECK(says(words, "ranks work 95 % of the step"));
  CHECK_FALSE(says(words, "not finite"));
}

TEST_CASE("a batch above the target runs, but does not fit by plan") {
  ProbeReport report = good_report();
  report.memory_target = 0.4;
  CHECK_FALSE(report.fits());
  CHECK(says(verdict(report), "without the wanted headroom"));
}

TEST_CASE("what ranks wait for much is named with what to change") {
  ProbeReport report = good_report();
  report.summary.data_share = 0.3;
  report.summary.communication_share = 0.2;
  CHECK(says(verdict(report), "wait 30 % of it for data: raise data.workers"));
  CHECK(says(verdict(report), "wait 20 % of it for gradients"));
}

TEST_CASE("more ranks than cores are called out") {
  ProbeReport report = good_report();
  report.placement = {{.rank = 0, .host = "a"}, {.rank = 1, .host = "a", .oversubscribed = true}};
  CHECK(says(verdict(report), "more threads than there are cores"));
}

TEST_CASE("memory that ran out is a verdict with who, where and what to do") {
  const ProbeReport report{.summary = {.plan = {.global = 256, .micro = 256, .accumulate = 1}},
                           .out_of_memory = "rank 1 ran out of memory in forward"};
  CHECK(says(probe_text(report), "does not fit: rank 1 ran out of memory in forward; lower batch.micro"));
  const auto document = nlohmann::json::parse(probe_json(report));
  CHECK(document["fits"] == false);
  CHECK(document["samples_per_second"].is_null());
}

TEST_CASE("a leak and losses that are not finite are told") {
  ProbeReport report = good_report();
  report.summary.growth = 4096;
  report.not_finite = 1;
  CHECK(says(verdict(report), "memory grows by 4 KiB with each window"));
  CHECK(says(verdict(report), "in 1 window a loss or gradient was not finite"));
}

TEST_CASE("the document holds batch, times, memory and placement") {
  ProbeReport report = good_report();
  report.placement = {{.rank = 0, .host = "a", .cores = {0, 1}, .threads = 2}};
  const auto document = nlohmann::json::parse(probe_json(report));
  CHECK(document["verb"] == "probe");
  CHECK(document["batch"]["accumulate"] == 2);
  CHECK(document["samples_per_second"].get<double>() == Approx(12800));
  CHECK(document["step_seconds"]["low"].get<double>() == Approx(0.019));
  CHECK(document["phase_seconds"]["reduce"].get<double>() == Approx(0.0009));
  CHECK(document["memory"]["limit_bytes"] == 200 * kMebibyte);
  CHECK(document["memory"]["ranks"][1]["peak_bytes"] == 100 * kMebibyte);
  CHECK(document["placement"][0]["cores"].size() == 2);
  CHECK(document["fits"] == true);
}
