// G7: PyTorch's own wrapper on one rank, from Python, with its fused optimizer.
#include "loops.hpp"
#include "session.hpp"

namespace bench {
namespace {

void measure(const Session& session, const Shape& shape, const std::string& case_name, int iterations, Target target) {
  Row row{.id = "G7", .what = "step, " + shape.name, .against = "PyTorch DDP, NCCL, fused AdamW", .target = target};
  if (session.rival == nullptr) return session.skip(std::move(row), session.no_rival_because);
  DdpkitLoop ours(Workload(shape, session.place), {session.data, session.control});
  Turns turns(session.place, iterations, 9);
  turns.add("ddpkit", [&] { ours.step(); });
  turns.add_block("PyTorch DDP", [&](int count) { return session.rival->block(case_name, count); });
  turns.run();
  session.report.keep("rival, " + shape.name, turns.samples());
  row.measured = turns.compare("ddpkit", "PyTorch DDP", ratio);
  session.add(std::move(row));
}

}  // namespace

void measure_rival(const Session& session) {
  measure(session, launch_bound(session.place), "launch_bound", 100, at_most(0.95));
  measure(session, large(session.place), "large", 5, at_most(1.0));
}

}  // namespace bench
