#include "step/recorded_pass.hpp"

#include <ATen/core/Tensor.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr int kWarmUp = 3;        // libraries choose their kernels and take their workspace in the first ones
constexpr int kMostRestarts = 8;  // a tail or two, but no stream of changing shapes

}  // namespace

RecordedPass::Form RecordedPass::form_of(const Batch& batch, double factor) {
  Form form{.factor = factor};
  for (const NamedTensor& tensor : batch.tensors())
    form.tensors.push_back({tensor.name, tensor.tensor.sizes().vec(), tensor.tensor.scalar_type()});
  return form;
}

Loss RecordedPass::run(const Batch& batch, double factor, const Pass& pass) {
  const Form form = form_of(batch, factor);
  if (loss_) {
    if (form != form_) return pass(batch);
    for (std::size_t i = 0; i < input_.tensors().size(); ++i)
      input_.tensors()[i].tensor.copy_(batch.tensors()[i].tensor, /*non_blocking=*/true);
    reducer_.repeat_backward();
    graph_->replay();
    return *loss_;
  }
  if (warm_up(form)) return pass(batch);
  record(batch, pass);
  graph_->replay();
  return *loss_;
}

/// Whether this pass still belongs to the warm-up.
bool RecordedPass::warm_up(const Form& form) {
  if (form == form_) return ++passes_ <= kWarmUp;
  if (passes_ > 0 && ++restarts_ > kMostRestarts)
    throw UsageError(text("step.cuda_graph: micro-batches changed their shape or weight ", restarts_,
                          " times within the first windows, and a graph is of one shape; pad them to one, or set "
                          "step.cuda_graph: off"));
  form_ = form;
  passes_ = 1;
  return true;
}

void RecordedPass::record(const Batch& batch, const Pass& pass) {
  std::vector<NamedTensor> inputs;
  for (const NamedTensor& tensor : batch.tensors()) inputs.push_back({tensor.name, tensor.tensor.clone()});
  input_ = Batch(std::move(inputs));
  const auto pause = reducer_.no_sync();
  graph_->record([&] { loss_ = pass(input_); });
  reducer_.remember_backward();
}

}  // namespace ddpkit
