#include <ATen/ops/cat.h>
#include <mpi.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "training/fused_update.hpp"
#include "training/variants.hpp"

namespace bench {
namespace {

std::unique_ptr<torch::optim::Optimizer> torch_optimizer(const Replica& replica, const StepCase& c) {
  if (c.rule == StepCase::Rule::sgd)
    return std::make_unique<torch::optim::SGD>(replica.parameters, torch::optim::SGDOptions(c.lr).momentum(kMomentum));
  return std::make_unique<torch::optim::AdamW>(replica.parameters, torch::optim::AdamWOptions(c.lr).weight_decay(kWeightDecay));
}

class TorchAlone final : public Variant {
 public:
  TorchAlone(const StepCase& c, int rank) : Variant(c, rank), optimizer_(torch_optimizer(replica_, c)) {}

  void step() override {
    optimizer_->zero_grad();
    replica_.loss().backward();
    optimizer_->step();
  }

 private:
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

class WithoutUpdate final : public Variant {
 public:
  using Variant::Variant;

  void step() override {
    replica_.forget_gradients();
    replica_.loss().backward();
  }
};

class FusedAlone final : public Variant {
 public:
  FusedAlone(const StepCase& c, int rank) : Variant(c, rank), update_(replica_.parameters, c) {}

  void step() override {
    replica_.forget_gradients();
    replica_.loss().backward();
    update_.step(replica_.gradients());
  }

 private:
  FusedUpdate update_;
};

void sum_over_ranks(const at::Tensor& values, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, values.mutable_data_ptr(), static_cast<int>(values.numel()), MPI_FLOAT, MPI_SUM, comm);
}

class FlatMpi final : public Variant {
 public:
  FlatMpi(const StepCase& c, const Team& team) : Variant(c, team.rank()), team_(team), update_(replica_.parameters, c) {
    std::int64_t elements = 0;
    for (const at::Tensor& parameter : replica_.parameters) elements += parameter.numel();
    flat_ = at::zeros({elements});
    std::int64_t offset = 0;
    for (const at::Tensor& parameter : replica_.parameters) {
      views_.push_back(flat_.narrow(0, offset, parameter.numel()).view(parameter.sizes()));
      offset += parameter.numel();
    }
  }

  void step() override {
    replica_.forget_gradients();
    replica_.loss().backward();
    for (std::size_t i = 0; i < views_.size(); ++i) views_[i].copy_(replica_.parameters[i].grad());
    sum_over_ranks(flat_, team_.comm());
    update_.step(views_, team_.size());
  }

 private:
  const Team& team_;
  FusedUpdate update_;
  at::Tensor flat_;
  std::vector<at::Tensor> views_;
};

class PerParameterMpi final : public Variant {
 public:
  PerParameterMpi(const StepCase& c, const Team& team)
      : Variant(c, team.rank()), team_(team), update_(replica_.parameters, c) {}

  void step() override {
    replica_.forget_gradients();
    replica_.loss().backward();
    const std::vector<at::Tensor> gradients = replica_.gradients();
    for (const at::Tensor& gradient : gradients) sum_over_ranks(gradient, team_.comm());
    update_.step(gradients, team_.size());
  }

 private:
  const Team& team_;
  FusedUpdate update_;
};

}  // namespace

std::unique_ptr<Variant> without_update(const StepCase& c, int rank) {
  return std::make_unique<WithoutUpdate>(c, rank);
}
std::unique_ptr<Variant> torch_alone(const StepCase& c, int rank) {
  return std::make_unique<TorchAlone>(c, rank);
}
std::unique_ptr<Variant> fused_alone(const StepCase& c, int rank) {
  return std::make_unique<FusedAlone>(c, rank);
}
std::unique_ptr<Variant> checked_alone(StepCase c, int rank) {
  c.clip_norm = 1e30;  // needs the norm, and leaves every finite one alone
  return std::make_unique<FusedAlone>(c, rank);
}
std::unique_ptr<Variant> flat_mpi(const StepCase& c, const Team& team) {
  return std::make_unique<FlatMpi>(c, team);
}
std::unique_ptr<Variant> per_parameter_mpi(const StepCase& c, const Team& team) {
  return std::make_unique<PerParameterMpi>(c, team);
}

}  // namespace bench
