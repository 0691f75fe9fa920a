// G8: buckets that travel as bfloat16: half the bytes, and a cast at the speed of memory.
#include <torch/types.h>

#include "loops.hpp"
#include "session.hpp"
#include "twin_communicator.hpp"

namespace bench {
namespace {

constexpr std::int64_t kElements = 1 << 28;

double bytes_of_a_step(const Session& session, ddpkit::BucketType type) {
  TwinCommunicator data(session.place.device);
  TwinCommunicator control(c10::kCPU);
  DdpkitLoop loop(Workload(launch_bound(session.place), session.place), {data, control}, {.reducer = {.bucket_dtype = type}});
  loop.step();
  return static_cast<double>(loop.counters().bytes);
}

void count_bytes(const Session& session) {
  const double share =
      bytes_of_a_step(session, ddpkit::BucketType::bfloat16) / bytes_of_a_step(session, ddpkit::BucketType::gradient);
  session.report.add({.id = "G8",
                      .what = "bytes of a step, bfloat16 buckets",
                      .against = "float32 buckets",
                      .target = exactly(0.5),
                      .measured = Estimate{share, share, share}});
}

void time_cast(const Session& session) {
  const std::int64_t count = session.place.rehearsal() ? 64 : kElements;
  const auto options = at::dtype(at::kFloat).device(session.place.device);
  const at::Tensor wide = torch::ones({count}, options);
  const at::Tensor other = torch::ones({count}, options);
  const at::Tensor narrow = torch::ones({count}, options.dtype(at::kBFloat16));
  Turns turns(session.place, 20, 11);
  turns.add("copy", [&] { other.copy_(wide); });
  turns.add("cast", [&] { narrow.copy_(wide); });
  turns.run();
  session.report.keep("cast to bfloat16", turns.samples());
  std::vector<double> floor;  // 6 bytes an element instead of 8
  for (const double seconds : turns.seconds("copy")) floor.push_back(seconds * 6 / 8);
  session.add({.id = "G8",
               .what = "cast of a bucket to bfloat16",
               .against = "its bytes at a copy's speed",
               .target = at_least(0.7),
               .measured = estimate(turns.seconds("cast"), floor, speed_up)});
}

}  // namespace

void measure_compression(const Session& session) {
  count_bytes(session);
  time_cast(session);
}

}  // namespace bench
