#include "optim/shard_ground.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>

#include <cstring>
#include <memory>

#include "optim/block_squares.hpp"

namespace ddpkit {
namespace {

std::vector<at::Tensor> tensors_of(std::span<const NamedTensor> parameters) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& item : parameters) tensors.push_back(item.tensor);
  return tensors;
}

ShardPlan plan_for(std::span<const at::Tensor> tensors, int ranks) {
  std::vector<ShardSpec> specs;
  for (const at::Tensor& tensor : tensors)
    specs.push_back({.elements = tensor.numel(), .element_bytes = static_cast<std::size_t>(tensor.element_size())});
  return plan_shards(specs, kNormBlock, ranks);
}

at::Tensor shaped_like(const at::Tensor& parameter, std::byte* data, std::shared_ptr<const void> owner) {
  return at::from_blob(
      data, parameter.sizes(), parameter.strides(), [owner = std::move(owner)](void*) {},
      parameter.options().requires_grad(false));
}

/// Collective. All runs of a region of which each rank has its own.
std::shared_ptr<std::byte[]> gather_runs(const ShardRegion& region, const ShardPlan& plan, Communicator& comm) {
  std::shared_ptr<std::byte[]> whole(new std::byte[plan.bytes]());
  for (int rank = 0; rank < comm.world_size(); ++rank) {
    const ShardPlan::Run run = plan.runs[static_cast<std::size_t>(rank)];
    if (run.bytes() == 0) continue;
    if (rank == comm.rank()) std::memcpy(whole.get() + run.begin, region.at(run.begin), run.bytes());
    const std::span bytes(reinterpret_cast<std::uint8_t*>(whole.get()) + run.begin, run.bytes());
    comm.broadcast(bytes, rank, "optimizer state").wait();
  }
  return whole;
}

}  // namespace

ShardGround::ShardGround(std::vector<NamedTensor> parameters, std::size_t moments, Communicator& comm)
    : comm_(comm),
      tensors_(tensors_of(parameters)),
      plan_(plan_for(tensors_, comm.world_size())),
      parameters_(std::move(parameters), plan_, comm),
      partials_(plan_, comm) {
  for (std::size_t i = 0; i < moments; ++i) moments_.emplace_back(plan_, ShardRegion::Holds::own_run, comm);
}

std::size_t ShardGround::offset_of(const ShardBlock& block) const noexcept {
  return plan_.offsets[block.parameter] + static_cast<std::size_t>(block.begin) * tensor(block.parameter).element_size();
}

BlockPlace ShardGround::place(const ShardBlock& block) const noexcept {
  const std::size_t offset = offset_of(block);
  BlockPlace place{
      .first = offset - plan_.offsets[block.parameter], .count = block.count, .parameter = parameters_.region().at(offset)};
  for (std::size_t i = 0; i < moments_.size(); ++i) place.moments[i] = moments_[i].at(offset);
  return place;
}

std::vector<at::Tensor> ShardGround::gather_moment(std::size_t index) const {
  const ShardRegion& region = moments_[index];
  std::shared_ptr<const void> owner = region.memory().block();
  std::byte* whole = nullptr;
  if (region.shared()) {
    whole = region.at(0);
  } else {
    const auto gathered = gather_runs(region, plan_, comm_);
    whole = gathered.get();
    owner = gathered;
  }
  std::vector<at::Tensor> moments;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    moments.push_back(shaped_like(tensors_[i], whole + plan_.offsets[i], owner));
  return moments;
}

void ShardGround::set_moment(std::size_t index, std::size_t parameter, const at::Tensor& whole) {
  const at::Tensor& like = tensor(parameter);
  const bool alike = whole.strides() == like.strides();
  const at::Tensor ordered = alike ? whole : at::empty_strided(like.sizes(), like.strides(), whole.options()).copy_(whole);
  for (const ShardBlock& block : own_blocks())
    if (block.parameter == parameter)
      std::memcpy(moments_[index].at(offset_of(block)),
                  static_cast<const std::byte*>(ordered.const_data_ptr()) + place(block).first,
                  static_cast<std::size_t>(block.count) * like.element_size());
}

std::size_t ShardGround::state_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const ShardRegion& region : moments_) bytes += region.own_bytes();
  return bytes;
}

}  // namespace ddpkit
