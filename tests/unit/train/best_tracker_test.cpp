#include "ddpkit/train/best_tracker.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace ddpkit {

namespace {

/// One letter for each value: i improved, s stop, . neither.
std::string verdicts(const TrainOptions& options, const std::vector<double>& values) {
  BestTracker tracker(options);
  std::string letters;
  for (const double value : values) {
    const BestTracker::Verdict verdict = tracker.observe(value);
    letters += verdict.improved ? 'i' : verdict.stop ? 's' : '.';
  }
  return letters;
}

}  // namespace

TEST_CASE("what counts as the best, and when it is time to stop") {
  const double nan = std::nan("");
  CHECK(verdicts({}, {3, 2, 2, 1, 5}) == "ii.i.");
  CHECK(verdicts({.better = Better::higher}, {3, 2, 4, 4, 5}) == "i.i.i");
  CHECK(verdicts({.patience = 2}, {3, 3, 3, 3}) == "i.ss");
  CHECK(verdicts({.patience = 2}, {3, 3, 2, 2, 2}) == "i.i.s");
  CHECK(verdicts({.patience = 1}, {1, 2}) == "is");
  CHECK(verdicts({.min_delta = 0.5}, {3, 2.6, 2.5, 2.4}) == "i..i");
  CHECK(verdicts({.better = Better::higher, .min_delta = 0.5}, {3, 3.5, 3.6}) == "i.i");
  CHECK(verdicts({.patience = 2}, {nan, nan}) == ".s");
  CHECK(verdicts({.patience = 2}, {nan, 3, nan, 2}) == ".i.i");
  CHECK(verdicts({}, {INFINITY, 3, -INFINITY}) == ".i.");
  CHECK(verdicts({.better = Better::higher}, {-1, -0.5}) == "ii");
}

TEST_CASE("a tracker goes on from its state as if it had never stopped") {
  const TrainOptions options{.patience = 3};
  BestTracker first(options);
  first.observe(1);
  first.observe(2);
  BestTracker second(options);
  second.set_state(first.state());
  CHECK_FALSE(second.observe(1.5).stop);
  CHECK(second.observe(1).stop);
  CHECK(second.state().best == 1.0);
}

}  // namespace ddpkit
