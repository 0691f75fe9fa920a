#include "ddpkit/reduce/parameter_sync.hpp"

#include <ATen/core/grad_mode.h>

#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/tensor/as_buffer.hpp"

namespace ddpkit {
namespace {

/// A dense tensor that collectives know, holding the values; `write_back` brings them home when it is a copy.
at::Tensor sendable(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach();
  if (plain.scalar_type() == at::kBool) return plain.contiguous().view(at::kByte);
  return plain.contiguous();
}

void write_back(const at::Tensor& sent, const at::Tensor& tensor) {
  if (sent.const_data_ptr() == tensor.const_data_ptr()) return;
  tensor.detach().copy_(sent.scalar_type() == at::kByte && tensor.scalar_type() == at::kBool ? sent.view(at::kBool) : sent);
}

void broadcast(const NamedTensor& item, Communicator& comm) {
  const at::Tensor sent = sendable(item.tensor);
  comm.broadcast(as_buffer(sent), 0, item.name).wait();
  write_back(sent, item.tensor);
}

}  // namespace

void broadcast_tensors(std::span<const NamedTensor> tensors, Channels channels) {
  const at::NoGradGuard no_graph;
  std::vector<Fact> facts;
  for (const NamedTensor& item : tensors)
    facts.push_back({item.name, text(at::toString(item.tensor.scalar_type()), " ", item.tensor.sizes())});
  require_equal(channels.control, "the model", facts);
  for (const NamedTensor& item : tensors) broadcast(item, channels.data);
}

void average_buffers(std::span<const NamedTensor> buffers, Channels channels) {
  const at::NoGradGuard no_graph;
  for (const NamedTensor& item : buffers) {
    if (!at::isFloatingType(item.tensor.scalar_type())) {
      broadcast(item, channels.data);
      continue;
    }
    const at::Tensor sum = item.tensor.detach().to(at::kDouble).contiguous();
    channels.data.all_reduce(as_buffer(sum), ReduceOp::mean, item.name).wait();
    item.tensor.detach().copy_(sum);
  }
}

}  // namespace ddpkit
