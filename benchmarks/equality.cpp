// mpirun -np 2 build/benchmarks/equality
//
// Whether every way in which ddpkit reduces and updates leaves the same bits as plain MPI does, over many steps.
#include <mpi.h>

#include <bit>
#include <cstring>

#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/mpi/wrap.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "harness/main.hpp"
#include "training/torch_facts.hpp"
#include "training/variants.hpp"

namespace {

using bench::StepCase;
using ddpkit::text;

constexpr int kSteps = 100;

/// MPI_Allreduce of every gradient by itself, then a replicated optimizer: no bucket, no shared memory.
class PlainMpi final : public bench::Variant {
 public:
  PlainMpi(const StepCase& c, const bench::Team& team)
      : Variant(c, team.rank()),
        team_(team),
        optimizer_(
            ddpkit::make_optimizer(ddpkit::named_tensors(replica_.model->named_parameters()), bench::optimizer_options(c))) {}

  void step() override {
    replica_.forget_gradients();
    replica_.loss().backward();
    for (const at::Tensor& gradient : replica_.gradients())
      MPI_Allreduce(MPI_IN_PLACE, gradient.mutable_data_ptr(), static_cast<int>(gradient.numel()), MPI_FLOAT, MPI_SUM,
                    team_.comm());
    optimizer_->step({.lr = step_case_.lr, .grad_scale = 1.0 / team_.size(), .clip_norm = step_case_.clip_norm});
  }

 private:
  const bench::Team& team_;
  std::unique_ptr<ddpkit::Optimizer> optimizer_;
};

std::int64_t differing_bits(const at::Tensor& a, const at::Tensor& b) {
  std::int64_t bits = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    std::uint32_t left = 0, right = 0;
    std::memcpy(&left, a.data_ptr<float>() + i, sizeof left);
    std::memcpy(&right, b.data_ptr<float>() + i, sizeof right);
    bits += std::popcount(left ^ right);
  }
  return bits;
}

std::int64_t differing_bits(bench::Variant& a, bench::Variant& b) {
  std::int64_t bits = 0;
  for (std::size_t i = 0; i < a.replica().parameters.size(); ++i)
    bits += differing_bits(a.replica().parameters[i], b.replica().parameters[i]);
  return bits;
}

void train(bench::Variant& variant) {
  for (int i = 0; i < kSteps; ++i) variant.step();
}

// Over buckets that hold one layer, a few, and all.
std::int64_t differing_bits_of(bench::Variant& plain, ddpkit::Communicator& comm, const StepCase& c,
                               ddpkit::UpdatePlacement placement) {
  std::int64_t bits = 0;
  for (const std::int64_t bucket_mib : {1, 2, 25}) {
    const auto ours = bench::ddpkit_step(c, comm, {.placement = placement, .bucket_mib = bucket_mib});
    train(*ours);
    bits += differing_bits(*ours, plain);
  }
  return bits;
}

void compare_all(bench::Session& session, ddpkit::Communicator& comm, const StepCase& c) {
  PlainMpi plain(c, session.team);
  train(plain);
  for (const auto& [placement, name] : ddpkit::enum_names(ddpkit::UpdatePlacement{})) {
    const auto bits = session.team.sum(static_cast<double>(differing_bits_of(plain, comm, c, placement)));
    session.report.add({.id = "C19",
                        .what = text("parameters after ", kSteps, " steps, ", c.title, ", ", name, ", buckets of 1, 2, 25 MiB"),
                        .against = "plain MPI",
                        .target = bench::exactly(0),
                        .unit = "bits",
                        .measured = {{bits, bits, bits}}});
  }
}

void measure(bench::Session& session) {
  const auto comm = ddpkit::wrap_mpi_communicator(session.team.comm());
  const StepCase adamw{.title = "AdamW", .width = 512, .batch = 16};
  StepCase clipped = adamw, sgd = adamw;
  clipped.title = "AdamW with clipping", clipped.clip_norm = 0.1;
  sgd.title = "SGD", sgd.rule = StepCase::Rule::sgd, sgd.lr = 0.01;
  for (const StepCase& c : {adamw, clipped, sgd})
    if (session.wants(c.title)) compare_all(session, *comm, c);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {.name = "equality", .facts = bench::torch_facts}, measure);
}
