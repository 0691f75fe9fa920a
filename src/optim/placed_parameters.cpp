#include "optim/placed_parameters.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <cstdio>
#include <cstring>
#include <exception>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

PlacedParameters::PlacedParameters(std::vector<NamedTensor> parameters, const ShardPlan& plan, Communicator& comm)
    : comm_(comm), parameters_(std::move(parameters)), region_(plan, ShardRegion::Holds::everything, comm) {
  const at::NoGradGuard no_graph;
  take_in(plan, comm.rank());
  if (region_.shared()) comm.barrier();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& parameter = parameters_[i].tensor;
    parameter.set_data(at::from_blob(
        region_.at(plan.offsets[i]), parameter.sizes(), parameter.strides(), [memory = region_.memory()](void*) {},
        parameter.options().requires_grad(false)));
  }
  accept();
}

/// Each rank writes what it owns of a shared region, all of one of its own.
void PlacedParameters::take_in(const ShardPlan& plan, int rank) {
  for (const ShardBlock& block : region_.shared() ? plan.of(rank) : std::span(plan.blocks)) {
    const at::Tensor& parameter = parameters_[block.parameter].tensor;
    const std::size_t begin = static_cast<std::size_t>(block.begin) * parameter.element_size();
    std::memcpy(region_.at(plan.offsets[block.parameter] + begin),
                static_cast<const std::byte*>(parameter.const_data_ptr()) + begin,
                static_cast<std::size_t>(block.count) * parameter.element_size());
  }
}

PlacedParameters::~PlacedParameters() {
  try {
    const at::NoGradGuard no_graph;
    for (NamedTensor& item : parameters_) item.tensor.set_data(item.tensor.detach().clone());
  } catch (const std::exception& error) {  // those left keep the region, which nobody writes to any more
    std::fprintf(stderr, "[rank %d/%d] warning: parameters stay in shared memory: %s\n", comm_.rank(), comm_.world_size(),
                 error.what());
  }
}

void PlacedParameters::require_untouched() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, tensor] = parameters_[i];
    if (tensor.const_data_ptr() != watched_[i].data)
      throw UsageError(text("parameter ", name,
                            " was given other memory since the last step, which leaves it out of the sharded ",
                            "update; copy into it instead, or set optimizer.placement: replicated"));
    if (region_.shared() && tensor._version() != watched_[i].version)
      throw UsageError(
          text("parameter ", name, " was written to since the last step, but optimizer.placement: sharded keeps one ",
               "copy for all ranks of the node, which each of them would change; set optimizer.placement: replicated"));
  }
}

void PlacedParameters::accept() {
  watched_.clear();
  for (const auto& [name, tensor] : parameters_)
    watched_.push_back({tensor.const_data_ptr(), static_cast<std::uint32_t>(tensor._version())});
}

// As an operator would, for graphs that saved the parameter.
void PlacedParameters::tell_written(std::size_t index) noexcept {
  parameters_[index].tensor.unsafeGetTensorImpl()->bump_version();
  watched_[index].version = static_cast<std::uint32_t>(parameters_[index].tensor._version());
}

void PlacedParameters::share_runs(const ShardPlan& plan) {
  if (comm_.world_size() == 1) return;
  if (region_.shared()) return comm_.barrier();
  for (int rank = 0; rank < comm_.world_size(); ++rank) {
    const ShardPlan::Run run = plan.runs[static_cast<std::size_t>(rank)];
    if (run.bytes() > 0)
      comm_.broadcast(Buffer::in(region_.memory(), run.begin, run.bytes(), DType::uint8), rank, "updated parameters").wait();
  }
}

}  // namespace ddpkit
