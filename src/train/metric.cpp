#include "ddpkit/train/metric.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/sum.h>

#include "ddpkit/base/error.hpp"

namespace ddpkit {

Ratio accuracy(const Batch& batch, const Loss& loss) {
  if (!loss.output.defined())
    throw UsageError("metric accuracy needs the model's output: return {mean, count, output} from the loss function");
  const at::NoGradGuard no_graph;
  const at::Tensor correct = at::argmax(loss.output.detach(), 1).eq(batch.target()).sum();
  return {static_cast<double>(correct.item<std::int64_t>()), static_cast<double>(batch.rows())};
}

}  // namespace ddpkit
