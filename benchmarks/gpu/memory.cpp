// G5: how often gradients are in memory while they lie in buckets.
#include <c10/cuda/CUDACachingAllocator.h>

#include "loops.hpp"
#include "session.hpp"
#include "twin_communicator.hpp"

namespace bench {
namespace {

/// Few rows, so that what lies between the layers counts for nothing.
Shape few_rows(const Place& place) {
  Shape shape = large(place);
  shape.name = "perceptron 16 x 4096, batch 16";
  shape.layers = 16;
  shape.rows = 16;
  return shape;
}

double gradient_bytes(const Workload& workload) {
  double bytes = 0;
  for (const ddpkit::NamedTensor& parameter : workload.parameters()) bytes += static_cast<double>(parameter.tensor.nbytes());
  return bytes;
}

template <class Loop>
double peak_of(Loop& loop, c10::DeviceIndex device) {
  loop.step();  // makes the optimizer's state
  c10::cuda::CUDACachingAllocator::resetPeakStats(device);
  loop.step();
  constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return static_cast<double>(c10::cuda::CUDACachingAllocator::getDeviceStats(device).allocated_bytes[kAll].peak);
}

double bare_peak(const Session& session, const Shape& shape) {
  BareLoop loop(Workload(shape, session.place));
  return peak_of(loop, session.place.device.index());
}

double bucket_peak(const Session& session, const Shape& shape) {
  TwinCommunicator data(session.place.device);
  TwinCommunicator control(c10::kCPU);
  DdpkitLoop loop(Workload(shape, session.place), {data, control});
  return peak_of(loop, session.place.device.index());
}

}  // namespace

void measure_memory(const Session& session) {
  Row row{.id = "G5",
          .what = "gradients in memory with buckets, perceptron 16 x 4096",
          .against = "once, as without buckets",
          .target = at_most(1.15),
          .unit = "times"};
  if (session.place.rehearsal()) return session.skip(std::move(row), "needs a GPU");
  const Shape shape = few_rows(session.place);
  const double gradients = gradient_bytes(Workload(shape, session.place));
  const double times = 1 + (bucket_peak(session, shape) - bare_peak(session, shape)) / gradients;
  row.measured = Estimate{times, times, times};
  session.add(std::move(row));
}

}  // namespace bench
