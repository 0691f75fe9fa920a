// mpirun -np 2 build/benchmarks/overlap
//
// How well communication hides behind backward, on links that take time without taking a core. The model of a pipeline says
// how long a step should last: bucket i arrives at max(issued i, arrived i-1) + latency + bytes / bandwidth, and what comes
// after the last bucket takes as long as it does without a link.
#include <algorithm>
#include <numeric>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/reduction_pipeline.hpp"
#include "ddpkit/comm/mpi/wrap.hpp"
#include "ddpkit/testing/emulated_link.hpp"
#include "ddpkit/testing/logged_communicator.hpp"
#include "harness/main.hpp"
#include "training/torch_facts.hpp"
#include "training/variants.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using ddpkit::testing::LinkSpeed;

constexpr LinkSpeed kNoLink{.bytes_per_second = 1e18};

/// Operations of a step as they were issued, averaged over steps.
class Issues {
 public:
  void begin_step() { start_ = Clock::now(), next_ = 0; }
  Clock::time_point note() {
    const auto now = Clock::now();
    if (next_ == seconds_.size()) seconds_.push_back(0);
    seconds_[next_++] += std::chrono::duration<double>(now - start_).count();
    return now;
  }
  void end_step() { ++steps_; }
  void clear() { seconds_.clear(), steps_ = 0; }
  std::vector<double> mean() const {
    std::vector<double> values = seconds_;
    for (double& value : values) value /= steps_;
    return values;
  }

 private:
  Clock::time_point start_;
  std::vector<double> seconds_;
  std::size_t next_ = 0;
  int steps_ = 0;
};

/// One model that trains over a link whose speed can be changed.
class LinkedTraining {
 public:
  LinkedTraining(const bench::StepCase& c, ddpkit::Communicator& comm)
      : link_(comm, kNoLink, {.now = [this] { return issues_.note(); }}),
        logged_(link_, log_),
        training_(bench::ddpkit_step(c, logged_, {.bucket_mib = 2})) {
    training_->step();
    log_.clear();
    training_->step();
    for (const auto& record : log_.records()) bytes_.push_back(record.count * ddpkit::size_of(record.dtype));
  }

  double seconds(const LinkSpeed& speed, int steps) {
    link_.set_speed(speed);
    training_->step();
    issues_.clear();
    return bench::seconds_of([&] {
      for (int i = 0; i < steps; ++i) {
        issues_.begin_step();
        training_->step();
        issues_.end_step();
      }
    });
  }

  /// What a step over a link should take, given that the last ones took `free_seconds` without one.
  double predicted(const LinkSpeed& speed, double free_seconds) const {
    const std::vector<double> issued = issues_.mean();
    if (issued.size() != bytes_.size())
      throw ddpkit::DataError(ddpkit::text(issued.size(), " operations in a step, ", bytes_.size(), " expected"));
    std::vector<ddpkit::PipelineBucket> buckets;
    for (std::size_t i = 0; i < issued.size(); ++i)
      buckets.push_back({issued[i], std::chrono::duration<double>(speed.cost(bytes_[i])).count()});
    const double end = ddpkit::run_pipeline({.buckets = buckets}).seconds();
    return end + free_seconds - issued.back();
  }

 private:
  Issues issues_;
  ddpkit::testing::OpLog log_;
  ddpkit::testing::EmulatedLink link_;
  ddpkit::testing::LoggedCommunicator logged_;
  std::unique_ptr<bench::Variant> training_;
  std::vector<std::size_t> bytes_;
};

struct Link {
  LinkSpeed speed;
  std::string title;
  std::vector<double> predicted{};  // seconds, one for each block without a link
};

std::vector<Link> links() {
  using std::chrono::microseconds;
  return {{{microseconds(50), 4e9}, "50 us, 4 GB/s"},
          {{microseconds(500), 1e9}, "500 us, 1 GB/s"},
          {{microseconds(100), 0.5e9}, "100 us, 0.5 GB/s"}};
}

void measure(bench::Session& session) {
  const auto comm = ddpkit::wrap_mpi_communicator(session.team.comm());
  const bench::StepCase mlp{.title = "MLP 1024, batch 64"};
  LinkedTraining training(mlp, *comm);
  std::vector<Link> all = links();
  bench::Rounds rounds = session.rounds();
  rounds.add("no link", [&](int steps) {
    const double seconds = training.seconds(kNoLink, steps);
    for (Link& link : all) link.predicted.push_back(training.predicted(link.speed, seconds / steps));
    return seconds;
  });
  for (const Link& link : all) rounds.add(link.title, [&](int steps) { return training.seconds(link.speed, steps); });
  rounds.run();
  session.report.keep("link, " + mlp.title, rounds.samples());
  for (Link& link : all) {
    const std::vector<double>& seconds = rounds.seconds(link.title);
    std::vector<double> predicted(link.predicted.end() - static_cast<std::ptrdiff_t>(seconds.size()), link.predicted.end());
    for (double& value : predicted) value = session.team.largest(value);
    session.report.add({.id = "C11",
                        .what = "step on an emulated link, " + link.title,
                        .against = "pipeline model",
                        .target = bench::at_most(1.06),
                        .measured = bench::estimate(seconds, predicted, bench::ratio),
                        .note = "model: " + ddpkit::seconds_figure(bench::median(predicted))});
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {.name = "overlap", .facts = bench::torch_facts}, measure);
}
