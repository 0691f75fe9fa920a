#include "ddpkit/train/metric.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/sum.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

Ratio accuracy(const Batch& batch, const Loss& loss) {
  if (!loss.output.defined())
    throw UsageError("metric accuracy needs the model's output: return {mean, count, output} from the loss function");
  const at::Tensor& target = batch.target();
  const bool fits = loss.output.dim() == 2 && target.dim() == 1 && loss.output.size(0) == target.size(0) &&
                    at::isIntegralType(target.scalar_type(), /*includeBool=*/false);
  if (!fits)
    throw UsageError(text("metric accuracy needs an output of shape [rows, classes] and integer targets of shape [rows]; got ",
                          loss.output.sizes(), " and ", at::toString(target.scalar_type()), " ", target.sizes()));
  const at::NoGradGuard no_graph;
  const at::Tensor correct = at::argmax(loss.output.detach(), 1).eq(target).sum();
  return {static_cast<double>(correct.item<std::int64_t>()), static_cast<double>(batch.rows())};
}

}  // namespace ddpkit
