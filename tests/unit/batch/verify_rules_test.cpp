#include "ddpkit/batch/verify_rules.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"

namespace ddpkit {
namespace {

using Catch::Matchers::Contains;
using State = ScalingPoint::State;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum class Cores { one_each, shared };

ProbeFigures probe(int ranks, double rate, Cores cores = Cores::one_each) {
  ProbeFigures figures{.ranks = ranks,
                       .plan = {64 * ranks, 64, 1},
                       .samples_per_second = rate,
                       .rate = {rate * 0.99, rate * 1.01},
                       .utilisation = 0.95,
                       .data_share = 0.01,
                       .communication_share = 0.04};
  for (int rank = 0; rank < ranks; ++rank) {
    figures.memory.push_back({rank, 600 + rank, 1000});
    figures.placement.push_back({.rank = rank,
                                 .host = "node1",
                                 .cores = cores == Cores::one_each ? std::vector<int>{rank} : std::vector<int>{0, 1},
                                 .oversubscribed = cores == Cores::shared});
  }
  return figures;
}

std::vector<LossCurve> equal_curves() {
  LossCurve curve{.ranks = 1, .plan = {64, 64, 1}};
  for (int step = 1; step <= 20; ++step) {
    curve.losses.push_back(2 * std::exp(-0.05 * step) + (step % 2 == 0 ? 0.01 : -0.01));
    curve.samples.push_back(64 * step);
  }
  LossCurve other = curve;
  other.plan = {64, 32, 2};
  return {curve, other};
}

TEST_CASE("scaling is judged against the fewest ranks, with its interval") {
  struct Row {
    double rate;
    Judgement judgement;
    const char* figure;
  };
  const Row row =
      GENERATE(Row{3900, Judgement::good, "98 %"}, Row{3600, Judgement::good, "90 %"}, Row{3200, Judgement::look, "80 %"},
               Row{2960, Judgement::look, "74 %"}, Row{2000, Judgement::bad, "50 %"});
  const std::vector<ProbeFigures> probes{probe(1, 1000), probe(2, 2000), probe(4, row.rate)};
  const Finding finding = judge_scaling(probes);
  CHECK(finding.judgement == row.judgement);
  CHECK(finding.figure == row.figure);
  CHECK(finding.advice.empty() == (row.judgement == Judgement::good));
}

TEST_CASE("more ranks than cores are called out and not judged as bad scaling") {
  const std::vector<ProbeFigures> some{probe(1, 1000), probe(2, 1900), probe(4, 1900, Cores::shared)};
  CHECK(scaling_of(some)[2].state == State::crowded);
  CHECK(judge_scaling(some).judgement == Judgement::good);
  CHECK_THAT(judge_scaling(some).sentence, Contains("On 4 ranks there were more ranks than cores"));

  const std::vector<ProbeFigures> all{probe(1, 1000), probe(2, 900, Cores::shared), probe(4, 800, Cores::shared)};
  CHECK(judge_scaling(all).judgement == Judgement::open);
  CHECK_THAT(judge_scaling(all).sentence, Contains("On 2 and 4 ranks"));
}

TEST_CASE("scaling is not judged where there is nothing equal to compare") {
  CHECK(judge_scaling(std::vector{probe(2, 1000)}).judgement == Judgement::open);
  std::vector<ProbeFigures> uneven{probe(1, 1000), probe(2, 1100)};
  uneven[0].placement[0].threads = 2;
  CHECK(scaling_of(uneven)[1].state == State::uneven);
  CHECK(judge_scaling(uneven).judgement == Judgement::open);
  CHECK(judge_scaling(std::vector{probe(1, 0), probe(2, 0)}).judgement == Judgement::open);
}

TEST_CASE("advice on scaling names what the ranks wait for") {
  std::vector<ProbeFigures> probes{probe(1, 1000), probe(2, 1000)};
  probes[1].communication_share = 0.4;
  CHECK_THAT(judge_scaling(probes).advice, Contains("wait 40 % of the step for gradients") && Contains("more accumulation"));
  probes[1].communication_share = 0.01;
  probes[1].data_share = 0.4;
  CHECK_THAT(judge_scaling(probes).advice, Contains("for data"));
  probes[1].data_share = 0.01;
  CHECK_THAT(judge_scaling(probes).advice, Contains("share caches"));
}

TEST_CASE("utilisation is that of the ranks that wait most, where each has a core") {
  std::vector<ProbeFigures> probes{probe(1, 1000), probe(2, 2000), probe(4, 2000, Cores::shared)};
  probes[2].utilisation = 0.2;
  CHECK(judge_utilisation(probes).judgement == Judgement::good);
  probes[1].utilisation = 0.8;
  probes[1].communication_share = 0.2;
  CHECK(judge_utilisation(probes).judgement == Judgement::look);
  probes[1].utilisation = 0.6;
  const Finding starved = judge_utilisation(probes);
  CHECK(starved.judgement == Judgement::bad);
  CHECK(starved.figure == "60 %");
  CHECK_THAT(starved.advice, Contains("gradients"));
  CHECK(judge_utilisation(std::vector{probe(2, 900, Cores::shared)}).judgement == Judgement::open);
}

TEST_CASE("speed is not judged while other programs work, or where windows vary too much") {
  std::vector<ProbeFigures> probes{probe(1, 1000), probe(2, 1000)};
  probes[1].other_work = 0.3;
  for (const Finding& finding : {judge_scaling(probes), judge_utilisation(probes)}) {
    CHECK(finding.judgement == Judgement::open);
    CHECK(finding.figure != "-");
    CHECK_THAT(finding.sentence, Contains("Other programs took 30 % of the cores' time during the probe on 2 ranks"));
  }
  CHECK(judge_scaling(probes, 0.5).judgement == Judgement::bad);
  probes[1].other_work = 0;
  probes[0].rate = {500, 1500};
  CHECK_THAT(judge_scaling(probes).sentence, Contains("Windows on 1 rank vary too much"));
  probes[0].rate = {950, 1050};
  CHECK(disturbance_of(probes, kMostOtherWork) == "");
  CHECK(disturbance_of(std::vector{probe(4, 1, Cores::shared)}, 0) == "");
}

TEST_CASE("memory is that of the fullest rank") {
  std::vector<ProbeFigures> probes{probe(1, 1000), probe(2, 2000)};
  Finding finding = judge_memory(probes);
  CHECK(finding.judgement == Judgement::good);
  CHECK_THAT(finding.sentence, Contains("Rank 1 of 2 has 601 B of 1,000 B"));
  probes[0].memory[0].peak_bytes = 950;
  finding = judge_memory(probes);
  CHECK(finding.judgement == Judgement::bad);
  CHECK(finding.figure == "95 %");
  CHECK_THAT(finding.advice, Contains("batch.micro (64 here)"));
}

TEST_CASE("memory that ran out is bad, and memory without a limit is not judged") {
  std::vector<ProbeFigures> probes{probe(1, 1000), probe(2, 0)};
  probes[1].verdict = "does not fit: rank 1 had no memory for 3 MiB in backward";
  CHECK(judge_memory(probes).judgement == Judgement::bad);
  CHECK_THAT(judge_memory(probes).sentence, Contains("On 2 ranks a window does not fit: rank 1"));
  probes.pop_back();
  probes[0].memory[0].limit_bytes = 0;
  CHECK(judge_memory(probes).judgement == Judgement::open);
}

TEST_CASE("curves within rounding are the same") {
  std::vector<LossCurve> curves = equal_curves();
  CHECK(judge_convergence(curves, 20).judgement == Judgement::good);
  CHECK(judge_convergence(curves, 20).figure == "0 %");
  for (double& loss : curves[1].losses) loss *= 1.0005;
  curves[1].losses[0] = curves[0].losses[0];
  CHECK(judge_convergence(curves, 20).judgement == Judgement::good);
  CHECK(judge_convergence(curves, 20).figure == "0.05 %");
  for (std::size_t i = 0; i < 20; ++i) curves[1].losses[i] = curves[0].losses[i] * (1 + 1e-7);
  CHECK(judge_convergence(curves, 20).figure == "below 0.01 %");
}

TEST_CASE("curves that differ are told apart by the step where they begin to") {
  std::vector<LossCurve> curves = equal_curves();
  curves[1].losses[3] += 0.01;
  CHECK(judge_convergence(curves, 20).judgement == Judgement::look);
  CHECK_THAT(judge_convergence(curves, 20).sentence, Contains("at step 4"));
  CHECK_THAT(judge_convergence(curves, 20).advice, Contains("the update depends on the plan"));
  for (double& loss : curves[1].losses) loss += 0.2;
  CHECK(judge_convergence(curves, 20).judgement == Judgement::bad);
  CHECK_THAT(judge_convergence(curves, 20).advice, Contains("batch norm"));
}

TEST_CASE("the curve furthest away is judged") {
  std::vector<LossCurve> curves = equal_curves();
  curves.push_back(curves[0]);
  curves[2].ranks = 2;
  curves[2].losses[9] += 1;
  CHECK_THAT(judge_convergence(curves, 20).sentence,
             Contains("2 ranks x 64 is 45 % of the loss away from 1 rank x 64 at step 10"));
}

TEST_CASE("curves that cannot be compared say why") {
  std::vector<LossCurve> curves = equal_curves();
  CHECK(judge_convergence(std::span(curves).first(1), 20).judgement == Judgement::open);
  CHECK_THAT(judge_convergence(curves, 21).sentence, Contains("made 20 of 21 steps"));
  curves[1].samples.back() -= 1;
  CHECK_THAT(judge_convergence(curves, 20).sentence, Contains("1 rank x 32 x accumulate 2 used other numbers of samples"));
  curves[1].losses[5] = kNan;
  CHECK_THAT(judge_convergence(curves, 20).sentence, Contains("not finite"));
}

TEST_CASE("how ranks were bound is said in words") {
  CHECK(binding_text(probe(1, 1).placement) == "on the cores 0");
  CHECK(binding_text(probe(2, 1).placement) == "each bound to cores of its own: 0, 1");
  CHECK(binding_text(probe(4, 1, Cores::shared).placement) == "not bound: 4 ranks share the cores 0-1 of node1");
  std::vector<Placement> mixed = probe(2, 1).placement;
  mixed[1].cores = {0, 1};
  CHECK(binding_text(mixed) == "bound to cores that overlap: 0, 0-1");
  CHECK(binding_text({}) == "not known");
}

}  // namespace
}  // namespace ddpkit
