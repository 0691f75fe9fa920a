#include "twin_communicator.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAGuard.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ddpkit/tensor/as_buffer.hpp"

namespace bench {
namespace {

ddpkit::Topology of_two() {
  return {.world_size = 2, .local_size = 2, .host = "twin"};
}

struct TensorBlock final : ddpkit::Memory::Block {
  at::Tensor tensor;
};

at::Tensor tensor_of(const ddpkit::Buffer& data, c10::Device device) {
  return at::from_blob(data.data, {static_cast<std::int64_t>(data.count)},
                       at::dtype(ddpkit::scalar_type_of(data.dtype)).device(device));
}

/// Ends when the stream has come to where it stood when this was made.
class StreamWork final : public ddpkit::Work::State {
 public:
  explicit StreamWork(const c10::cuda::CUDAStream& stream) { event_.record(stream); }
  void wait() override { event_.block(c10::cuda::getCurrentCUDAStream()); }
  void synchronize() override { event_.synchronize(); }
  bool done() override { return event_.query(); }

 private:
  at::cuda::CUDAEvent event_;
};

}  // namespace

TwinCommunicator::TwinCommunicator(c10::Device device, int passes)
    : Communicator(of_two(), device.is_cpu() ? ddpkit::Device::Type::cpu : ddpkit::Device::Type::cuda),
      device_(device),
      passes_(passes) {
  if (device_.is_cuda()) stream_ = c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device_.index());
}

ddpkit::Memory TwinCommunicator::do_allocate(std::size_t bytes) {
  auto block = std::make_shared<TensorBlock>();
  block->tensor = at::empty({static_cast<std::int64_t>(bytes)}, at::dtype(at::kByte).device(device_));
  block->data = static_cast<std::byte*>(block->tensor.data_ptr());
  block->size = bytes;
  block->id = ++allocated_;
  if (device_.is_cuda()) block->device = {.type = ddpkit::Device::Type::cuda, .index = device_.index()};
  return ddpkit::Memory(std::move(block));
}

ddpkit::Work TwinCommunicator::do_all_reduce(ddpkit::Buffer data, ddpkit::ReduceOp op, std::string_view) {
  const at::NoGradGuard no_graph;
  const double factor = op == ddpkit::ReduceOp::sum ? 2 : 1;
  if (data.device.type == ddpkit::Device::Type::cpu) {
    if (data.count > 0) tensor_of(data, c10::kCPU).mul_(factor);
    return {};
  }
  Trip& trip = trips.emplace_back();
  trip.bytes = data.bytes();
  trip.ready.record(c10::cuda::getCurrentCUDAStream());
  const c10::cuda::CUDAStreamGuard guard(*stream_);
  trip.ready.block(*stream_);
  const at::Tensor elements = tensor_of(data, device_);
  for (int pass = 0; pass < passes_; ++pass) elements.mul_(pass == 0 ? factor : 1);
  trip.done.record(*stream_);
  return ddpkit::Work(std::make_shared<StreamWork>(*stream_));
}

ddpkit::Work TwinCommunicator::do_reduce_scatter(ddpkit::ConstBuffer, ddpkit::Buffer, ddpkit::ReduceOp, std::string_view) {
  throw ddpkit::UsageError("TwinCommunicator: no reduce_scatter; reduce whole buckets");
}

ddpkit::Work TwinCommunicator::do_all_gather(ddpkit::ConstBuffer in, ddpkit::Buffer out, std::string_view) {
  auto* bytes = static_cast<std::byte*>(out.data);
  for (int rank = 0; rank < world_size(); ++rank)
    if (bytes + static_cast<std::size_t>(rank) * in.bytes() != in.data)
      std::memcpy(bytes + static_cast<std::size_t>(rank) * in.bytes(), in.data, in.bytes());
  return {};
}

std::unique_ptr<ddpkit::Communicator> TwinCommunicator::do_split(int color, int) {
  if (color < 0) return nullptr;
  return std::make_unique<TwinCommunicator>(device_, passes_);
}

void TwinCommunicator::do_abort(const ddpkit::Error& reason) noexcept {
  std::fprintf(stderr, "%s\n", reason.what());
  std::_Exit(static_cast<int>(reason.status()));
}

}  // namespace bench
