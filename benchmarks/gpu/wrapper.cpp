// G1: what ddpkit costs where there is one rank.
#include "loops.hpp"
#include "session.hpp"

namespace bench {
namespace {

void measure(const Session& session, const Shape& shape, int iterations) {
  BareLoop bare(Workload(shape, session.place));
  DdpkitLoop ours(Workload(shape, session.place), {session.data, session.control});
  Turns turns(session.place, iterations, 11);
  turns.add("bare loop", [&] { bare.step(); });
  turns.add("ddpkit", [&] { ours.step(); });
  turns.run();
  session.report.keep(shape.name, turns.samples());
  session.add({.id = "G1",
               .what = "step, " + shape.name,
               .against = "bare LibTorch loop",
               .target = at_most(1.01),
               .measured = turns.compare("ddpkit", "bare loop", ratio)});
}

}  // namespace

void measure_wrapper(const Session& session) {
  measure(session, large(session.place), 5);
  measure(session, launch_bound(session.place), 100);
}

}  // namespace bench
