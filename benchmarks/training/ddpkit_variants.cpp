#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/step/stepper.hpp"
#include "training/fused_update.hpp"
#include "training/variants.hpp"

namespace bench {
namespace {

class DdpkitStep final : public Variant {
 public:
  DdpkitStep(const StepCase& c, ddpkit::Communicator& comm, const DdpkitSetup& setup)
      : Variant(c, comm.rank()),
        reducer_(replica_.model->named_parameters(), comm,
                 {.bucket_mib = setup.bucket_mib, .deliver = ddpkit::delivery_for(setup.placement)}),
        optimizer_(ddpkit::make_optimizer(reducer_, optimizer_options(c, setup.placement))),
        schedule_(ddpkit::make_schedule({}, c.lr, {})),
        stepper_(reducer_, *optimizer_, schedule_, {.clip_norm = c.clip_norm}),
        window_{ddpkit::Batch({{"input", replica_.input}, {"target", replica_.target}})} {
    stepper_.set_progress({.global_batch = c.batch * comm.world_size()});
  }

  void step() override {
    stepper_.run(window_, [this](const ddpkit::Batch& batch) -> ddpkit::Loss {
      return replica_.loss_on(batch.input(), batch.target());
    });
  }

 private:
  ddpkit::GradReducer reducer_;
  std::unique_ptr<ddpkit::Optimizer> optimizer_;
  ddpkit::LrSchedule schedule_;
  ddpkit::Stepper stepper_;
  std::vector<ddpkit::Batch> window_;
};

}  // namespace

ddpkit::OptimizerOptions optimizer_options(const StepCase& c, ddpkit::UpdatePlacement placement) {
  if (c.rule == StepCase::Rule::sgd) return {.lr = c.lr, .momentum = kMomentum, .placement = placement};
  return {.name = ddpkit::OptimizerKind::adamw,
          .lr = c.lr,
          .weight_decay = kWeightDecay,
          .no_decay = ddpkit::NoDecay::none,
          .placement = placement};
}

std::unique_ptr<Variant> ddpkit_step(const StepCase& c, ddpkit::Communicator& comm, const DdpkitSetup& setup) {
  return std::make_unique<DdpkitStep>(c, comm, setup);
}

}  // namespace bench
