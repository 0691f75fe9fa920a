#pragma once

#include <memory>

#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/optim/optimizer_options.hpp"
#include "ddpkit/reduce/reducer_options.hpp"
#include "harness/team.hpp"
#include "training/replica.hpp"
#include "training/step_case.hpp"

namespace bench {

/// A way to train. Every call of `step` is one optimizer step.
class Variant {
 public:
  Variant(const StepCase& step_case, int rank) : step_case_(step_case), replica_(step_case, rank) {}
  virtual ~Variant() = default;

  virtual void step() = 0;
  Replica& replica() noexcept { return replica_; }

 protected:
  StepCase step_case_;
  Replica replica_;
};

// One process for itself, on every rank at once:
std::unique_ptr<Variant> without_update(const StepCase& step_case, int rank);  ///< forward and backward: the floor
std::unique_ptr<Variant> torch_alone(const StepCase& step_case, int rank);     ///< A: torch::optim
std::unique_ptr<Variant> fused_alone(const StepCase& step_case, int rank);     ///< B: the fused optimizer
std::unique_ptr<Variant> checked_alone(StepCase step_case, int rank);          ///< B, which looks for infinities first

// All ranks together by hand, with the fused optimizer:
std::unique_ptr<Variant> flat_mpi(const StepCase& step_case, const Team& team);           ///< one reduction after backward
std::unique_ptr<Variant> per_parameter_mpi(const StepCase& step_case, const Team& team);  ///< one for each parameter

// ddpkit:
struct DdpkitSetup {
  ddpkit::UpdatePlacement placement = ddpkit::UpdatePlacement::replicated;
  std::int64_t bucket_mib = ddpkit::ReducerOptions{}.bucket_mib;
};
std::unique_ptr<Variant> ddpkit_step(const StepCase& step_case, ddpkit::Communicator& comm, const DdpkitSetup& setup = {});
ddpkit::OptimizerOptions optimizer_options(const StepCase& step_case,
                                           ddpkit::UpdatePlacement placement = ddpkit::UpdatePlacement::replicated);

}  // namespace bench
