#include "ddpkit/batch/bucket_cuts.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

using Gradients = std::vector<ReadyGradient>;

/// All legal ways to cut, by the bits of a number.
std::vector<BucketCuts> all_cuts(const Gradients& gradients, std::size_t bucket_bytes) {
  std::vector<BucketCuts> ways;
  for (std::size_t bits = 0; bits < std::size_t{1} << (gradients.size() - 1); ++bits) {
    BucketCuts cuts;
    for (std::size_t i = 1; i < gradients.size(); ++i)
      if ((bits >> (i - 1)) & 1) cuts.push_back(i);
    cuts.push_back(gradients.size());
    const auto legal = [&, begin = std::size_t{0}](std::size_t end) mutable {
      std::size_t bytes = 0;
      bool one_kind = true;
      for (std::size_t i = begin; i < end; ++i) {
        bytes += gradients[i].bytes;
        one_kind = one_kind && gradients[i].kind == gradients[begin].kind;
      }
      const bool alone = end - begin == 1;
      begin = end;
      return one_kind && (alone || bytes <= bucket_bytes);
    };
    if (std::all_of(cuts.begin(), cuts.end(), legal)) ways.push_back(cuts);
  }
  return ways;
}

/// The recurrence as it stands in the header, by itself.
double plain_end(const Gradients& gradients, const BucketCuts& cuts, const ReductionCost& cost) {
  double end = 0;
  std::size_t next = 0;
  for (const std::size_t cut : cuts) {
    double ready = 0, bytes = 0;
    for (; next < cut; ++next) {
      ready = std::max(ready, gradients[next].ready_seconds);
      bytes += static_cast<double>(gradients[next].bytes);
    }
    end = std::max(ready, end) + cost.of(bytes);
  }
  return end;
}

Gradients random_gradients(std::mt19937& random, std::size_t count, int kinds) {
  Gradients gradients(count);
  std::uniform_real_distribution<double> pause(0, 2e-3);
  double now = 0;
  for (ReadyGradient& gradient : gradients) {
    if (random() % 4 != 0) now += pause(random);  // several may become ready at once
    gradient = {now, std::size_t{1} << (random() % 22), static_cast<int>(random() % static_cast<unsigned>(kinds))};
  }
  return gradients;
}

ReductionCost random_cost(std::mt19937& random) {
  return {.start_seconds = 1e-6 * static_cast<double>(random() % 2000),
          .seconds_per_byte = 1e-11 * static_cast<double>(random() % 500)};
}

}  // namespace

TEST_CASE("cuts by time end as early as the best of all cuts") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 4000; ++trial) {
    const Gradients gradients = random_gradients(random, 1 + random() % 9, 1 + static_cast<int>(random() % 2));
    const CutLimits limits{random_cost(random), std::size_t{1} << (14 + random() % 12)};
    double best = 1e9;
    for (const BucketCuts& cuts : all_cuts(gradients, limits.bucket_bytes))
      best = std::min(best, plain_end(gradients, cuts, limits.cost));
    const BucketCuts cuts = cut_by_time(gradients, limits);
    CHECK(plain_end(gradients, cuts, limits.cost) == Approx(best));
    CHECK(end_of_reduction(gradients, cuts, limits.cost) == Approx(best));
  }
}

TEST_CASE("cuts by time are legal and hold every gradient once") {
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const Gradients gradients = random_gradients(random, 1 + random() % 9, 2);
    const CutLimits limits{random_cost(random), std::size_t{1} << (14 + random() % 12)};
    const std::vector<BucketCuts> legal = all_cuts(gradients, limits.bucket_bytes);
    CHECK(std::find(legal.begin(), legal.end(), cut_by_time(gradients, limits)) != legal.end());
  }
}

TEST_CASE("a link that costs nothing to start gets every gradient at once, so that little is left at the end") {
  const Gradients gradients{{1, 100}, {2, 100}, {3, 100}};
  CHECK(cut_by_time(gradients, {{.seconds_per_byte = 0.005}}).back() == 3);
  CHECK(end_of_reduction(gradients, cut_by_time(gradients, {{.seconds_per_byte = 0.005}}), {.seconds_per_byte = 0.005}) ==
        Approx(3.5));
}

TEST_CASE("a link that is slow to start gets one bucket") {
  const Gradients gradients{{1, 100}, {2, 100}, {3, 100}};
  CHECK(cut_by_time(gradients, {{.start_seconds = 10}}) == BucketCuts{3});
}

TEST_CASE("gradients that become ready together leave together") {
  const Gradients gradients{{1, 100}, {1, 100}, {1, 100}, {5, 1}};
  CHECK(cut_by_time(gradients, {{.start_seconds = 0.1, .seconds_per_byte = 1e-3}}) == BucketCuts{3, 4});
}

TEST_CASE("no gradient, no cut") {
  CHECK(cut_by_time({}, {}).empty());
  CHECK(end_of_reduction({}, {}, {}) == 0);
}

TEST_CASE("a thousand gradients are cut in the time of a step") {
  std::mt19937 random(3);
  const Gradients gradients = random_gradients(random, 1000, 1);
  const BucketCuts cuts = cut_by_time(gradients, {random_cost(random), std::size_t{1} << 30});
  CHECK(cuts.back() == 1000);
}
