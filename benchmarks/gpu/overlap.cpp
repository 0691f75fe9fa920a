// G6: how far backward hides a slow link. A stream of its own runs passes over each bucket in NCCL's place; the pipeline model
// says what the step would take if it hid all that can be hidden.
#include <algorithm>
#include <numeric>

#include "loops.hpp"
#include "session.hpp"
#include "twin_communicator.hpp"

namespace bench {
namespace {

constexpr int kTimedSteps = 9;
constexpr double kShareOfStep = 0.5;  // the link is busy for so long
constexpr double kMilli = 1e-3;

/// One step on the device's clock, in seconds from its start.
struct Timeline {
  std::vector<double> ready;  ///< by bucket: its gradients are there
  std::vector<double> bytes;  ///< by bucket
  double end = 0;
};

Timeline time_step(DdpkitLoop& loop, TwinCommunicator& link, const Place& place) {
  at::cuda::CUDAEvent start(cudaEventDefault), end(cudaEventDefault);
  link.trips.clear();
  start.record();
  loop.step();
  end.record();
  synchronize(place);
  Timeline timeline{.end = kMilli * start.elapsed_time(end)};
  for (const TwinCommunicator::Trip& trip : link.trips) {
    timeline.ready.push_back(kMilli * start.elapsed_time(trip.ready));
    timeline.bytes.push_back(static_cast<double>(trip.bytes));
  }
  return timeline;
}

std::vector<Timeline> time_steps(const Session& session, int passes) {
  TwinCommunicator link(session.place.device, passes);
  TwinCommunicator control(c10::kCPU);
  DdpkitLoop loop(Workload(large(session.place), session.place), {link, control});
  for (int step = 0; step < 3; ++step) time_step(loop, link, session.place);
  std::vector<Timeline> timelines;
  for (int step = 0; step < kTimedSteps; ++step) timelines.push_back(time_step(loop, link, session.place));
  return timelines;
}

/// Seconds that the link needs for a byte in one pass while nothing else runs.
double seconds_per_byte(const Session& session) {
  constexpr std::size_t kBytes = 25 << 20;
  TwinCommunicator link(session.place.device, 100);
  const ddpkit::Memory memory = link.allocate(kBytes);
  for (int i = 0; i < 2; ++i) {
    link.trips.clear();
    link.all_reduce(ddpkit::Buffer::in(memory, 0, kBytes / 4, ddpkit::DType::float32), ddpkit::ReduceOp::mean).wait();
    synchronize(session.place);
  }
  return kMilli * link.trips.front().ready.elapsed_time(link.trips.front().done) / 100 / kBytes;
}

/// The step with the link: each bucket leaves when it is there and the link is free, and what follows backward stays as long.
double pipeline_model(const Timeline& without_link, double seconds_per_byte) {
  double link_free = 0;
  for (std::size_t i = 0; i < without_link.ready.size(); ++i)
    link_free = std::max(link_free, without_link.ready[i]) + seconds_per_byte * without_link.bytes[i];
  const double last = without_link.ready.back();
  return std::max(last, link_free) + (without_link.end - last);
}

std::vector<double> ends(const std::vector<Timeline>& timelines) {
  std::vector<double> seconds;
  for (const Timeline& timeline : timelines) seconds.push_back(timeline.end);
  return seconds;
}

}  // namespace

void measure_overlap(const Session& session) {
  Row row{.id = "G6", .what = "step with a link busy for half of it", .against = "pipeline model", .target = at_most(1.10)};
  if (session.place.rehearsal()) return session.skip(std::move(row), "needs a GPU");
  const std::vector<Timeline> without = time_steps(session, 0);
  const std::vector<double>& sizes = without.front().bytes;
  const double bytes = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  const double pass = seconds_per_byte(session);
  const int passes = std::max(1, static_cast<int>(kShareOfStep * median(ends(without)) / (bytes * pass)));
  const std::vector<Timeline> with = time_steps(session, passes);
  std::vector<double> modelled;
  for (const Timeline& timeline : without) modelled.push_back(pipeline_model(timeline, pass * passes));
  session.report.keep("overlap", {{"without link", ends(without)}, {"with link", ends(with)}, {"model", modelled}});
  row.measured = estimate(ends(with), modelled, ratio);
  session.add(std::move(row));
}

}  // namespace bench
