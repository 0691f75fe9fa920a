#include <ATen/ops/equal.h>

#include <cstdio>

#include "ddpkit/base/text.hpp"
#include "loops.hpp"
#include "session.hpp"
#include "twin_communicator.hpp"

namespace bench {
namespace {

constexpr int kSteps = 20;
constexpr double kMost = 1e-5;  // of the largest parameter; matrix products may be cut up differently

double distance(const Workload& a, const Workload& b) {
  double worst = 0;
  const auto ours = a.parameters();
  const auto theirs = b.parameters();
  for (std::size_t i = 0; i < ours.size(); ++i)
    worst = std::max(
        worst, (ours[i].tensor - theirs[i].tensor).abs().max().item<double>() / theirs[i].tensor.abs().max().item<double>());
  return worst;
}

void compare(const std::string& name, const Shape& shape, const Session& session, ddpkit::Channels channels) {
  BareLoop bare(Workload(shape, session.place));
  DdpkitLoop ours(Workload(shape, session.place), channels);
  const Workload before(shape, session.place);
  for (int step = 0; step < kSteps; ++step) {
    bare.step();
    ours.step();
  }
  const double apart = distance(ours.workload(), bare.workload());
  std::printf("%-34s %d steps, largest difference from the bare loop %.1e\n", name.c_str(), kSteps, apart);
  if (!(apart <= kMost) || distance(bare.workload(), before) == 0)
    throw ddpkit::Error(ddpkit::text(name, ": after ", kSteps, " steps parameters differ from the bare loop's by ", apart,
                                     " of their size; expected at most ", kMost));
}

}  // namespace

void check_results(const Session& session) {
  const Shape shape = launch_bound(session.place);
  compare("one rank, local", shape, session, {session.control, session.control});
  compare(ddpkit::text("one rank, ", session.data.backend()), shape, session, {session.data, session.control});
  TwinCommunicator data(session.place.device);
  TwinCommunicator control(c10::kCPU);
  compare("two alike, buckets", shape, session, {data, control});
}

}  // namespace bench
