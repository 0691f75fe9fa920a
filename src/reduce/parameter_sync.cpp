#include "ddpkit/reduce/parameter_sync.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <sstream>

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

/// Host tensors travel over the control communicator: on a GPU the other one takes only what lies there.
Communicator& channel_for(const at::Tensor& tensor, const Channels& channels) {
  return tensor.is_cpu() ? channels.control : channels.data;
}

void broadcast(const NamedTensor& item, const Channels& channels) {
  const at::Tensor sent = sendable(item.tensor);
  channel_for(sent, channels).broadcast(as_buffer(sent), 0, item.name).wait();
  write_back(sent, item.tensor);
}

/// One line a tensor: type, sizes, name.
std::string describe_list(const std::vector<NamedTensor>& tensors) {
  std::string lines;
  for (const NamedTensor& item : tensors) {
    lines += text(static_cast<int>(dtype_of_tensor(item.tensor)), " ", item.tensor.dim());
    for (const std::int64_t size : item.tensor.sizes()) lines += text(" ", size);
    lines += " " + item.name + "\n";
  }
  return lines;
}

std::vector<NamedTensor> receive_list(const std::string& lines) {
  std::vector<NamedTensor> tensors;
  std::istringstream in(lines);
  int type = 0;
  std::size_t dimensions = 0;
  while (in >> type >> dimensions) {
    std::vector<std::int64_t> sizes(dimensions);
    for (std::int64_t& size : sizes) in >> size;
    in.ignore(1);
    std::string name;
    std::getline(in, name);
    tensors.push_back({name, at::empty(sizes, scalar_type_of(static_cast<DType>(type)))});
  }
  return tensors;
}

}  // namespace

void broadcast_tensors(std::span<const NamedTensor> tensors, Channels channels) {
  const at::NoGradGuard no_graph;
  std::vector<Fact> facts;
  for (const NamedTensor& item : tensors)
    facts.push_back({item.name, text(at::toString(item.tensor.scalar_type()), " ", item.tensor.sizes())});
  require_equal(channels.control, "the model", facts);
  for (const NamedTensor& item : tensors) broadcast(item, channels);
}

std::vector<NamedTensor> share_tensors(std::vector<NamedTensor> of_rank_0, Channels channels) {
  const at::NoGradGuard no_graph;
  std::vector<NamedTensor> tensors = receive_list(broadcast_text(channels.control, describe_list(of_rank_0)));
  if (channels.control.rank() == 0) tensors = std::move(of_rank_0);
  for (const NamedTensor& item : tensors) broadcast(item, channels);
  return tensors;
}

void average_buffers(std::span<const NamedTensor> buffers, Channels channels) {
  const at::NoGradGuard no_graph;
  for (const NamedTensor& item : buffers) {
    if (!at::isFloatingType(item.tensor.scalar_type())) {
      broadcast(item, channels);
      continue;
    }
    const at::Tensor sum = item.tensor.detach().to(at::kDouble).contiguous();
    channel_for(sum, channels).all_reduce(as_buffer(sum), ReduceOp::mean, item.name).wait();
    item.tensor.detach().copy_(sum);
  }
}

}  // namespace ddpkit
