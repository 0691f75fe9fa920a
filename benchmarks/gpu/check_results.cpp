#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ddpkit/base/text.hpp"
#include "loops.hpp"
#include "session.hpp"
#include "twin_communicator.hpp"

namespace bench {
namespace {

constexpr int kSteps = 5;       // rounding grows from step to step under Adam
constexpr double kMost = 1e-3;  // of the largest parameter; five steps move it by ten times as much
constexpr double kMostNorm = 1e-4;

double distance(const Workload& a, const Workload& b) {
  double worst = 0;
  const auto ours = a.parameters();
  const auto theirs = b.parameters();
  for (std::size_t i = 0; i < ours.size(); ++i)
    worst = std::max(
        worst, (ours[i].tensor - theirs[i].tensor).abs().max().item<double>() / theirs[i].tensor.abs().max().item<double>());
  return worst;
}

/// Returns the norm of the first gradient, since Adam hides how a gradient is scaled.
double compare(const std::string& name, const Shape& shape, const Session& session, ddpkit::Channels channels) {
  BareLoop bare(Workload(shape, session.place));
  DdpkitLoop ours(Workload(shape, session.place), channels);
  const Workload before(shape, session.place);
  double norm = 0;
  for (int step = 0; step < kSteps; ++step) {
    bare.step();
    const ddpkit::StepResult result = ours.step();
    if (step == 0) norm = result.grad_norm;
  }
  const double apart = distance(ours.workload(), bare.workload());
  std::printf("%-24s %d steps, largest difference from the bare loop %.1e\n", name.c_str(), kSteps, apart);
  if (!(apart <= kMost) || distance(bare.workload(), before) == 0)
    throw ddpkit::Error(ddpkit::text(name, ": after ", kSteps, " steps parameters differ from the bare loop's by ", apart,
                                     " of their size; expected at most ", kMost));
  return norm;
}

void require_same_norm(double norm, double expected) {
  if (!(std::abs(norm - expected) <= kMostNorm * expected))
    throw ddpkit::Error(ddpkit::text("the first gradient's norm is ", norm, "; expected ", expected));
}

}  // namespace

void check_results(const Session& session) {
  const Shape shape = launch_bound(session.place);
  const double norm = compare("one rank, local", shape, session, {session.control, session.control});
  const std::string backend(session.data.backend());
  require_same_norm(compare("one rank, " + backend, shape, session, {session.data, session.control}), norm);
  TwinCommunicator data(session.place.device);
  TwinCommunicator control(c10::kCPU);
  require_same_norm(compare("two alike, buckets", shape, session, {data, control}), norm);
}

}  // namespace bench
