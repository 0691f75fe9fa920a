// G4: the step with forward and backward as one CUDA graph.
#include "loops.hpp"
#include "session.hpp"

namespace bench {
namespace {

void measure(const Session& session, const Shape& shape, int iterations, Target target) {
  const ddpkit::Channels channels{session.data, session.control};
  DdpkitLoop eager(Workload(shape, session.place), channels);
  DdpkitLoop graph(Workload(shape, session.place), channels, {.stepper = {.cuda_graph = ddpkit::CudaGraph::on}});
  Turns turns(session.place, iterations, 11);
  turns.add("eager", [&] { eager.step(); });
  turns.add("graph", [&] { graph.step(); });
  turns.run();
  session.report.keep("graph, " + shape.name, turns.samples());
  session.add({.id = "G4",
               .what = "step with a CUDA graph, " + shape.name,
               .against = "the same without",
               .target = target,
               .measured = turns.compare("graph", "eager", speed_up)});
}

}  // namespace

void measure_graph(const Session& session) {
  const Shape small = launch_bound(session.place);
  const Shape big = large(session.place);
  if (session.place.rehearsal()) {
    session.skip({.id = "G4", .what = "step with a CUDA graph", .against = "the same without", .target = at_least(1.5)},
                 "needs a GPU");
    return;
  }
  measure(session, small, 100, at_least(1.5));
  measure(session, big, 5, at_least(0.98));
}

}  // namespace bench
