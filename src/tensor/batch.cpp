#include "ddpkit/tensor/batch.hpp"

#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/tensor/as_buffer.hpp"

namespace ddpkit {
namespace {

at::Tensor view_of(const HostArray& array) {
  return at::from_blob(
      array.bytes.get(), array.shape, [bytes = array.bytes](void*) {}, at::dtype(scalar_type_of(array.dtype)));
}

std::int64_t common_rows(const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& item : tensors) {
    if (item.tensor.dim() == 0)
      throw UsageError(text("Batch: \"", item.name, "\" is a scalar; expected rows in its first dimension"));
    if (item.tensor.size(0) != tensors.front().tensor.size(0))
      throw UsageError(text("Batch: \"", item.name, "\" has ", item.tensor.size(0), " rows and \"", tensors.front().name, "\" ",
                            tensors.front().tensor.size(0)));
  }
  return tensors.empty() ? 0 : tensors.front().tensor.size(0);
}

}  // namespace

Batch::Batch(const HostBatch& host) : ids_(host.ids), rows_(host.rows), micro_index_(host.micro_index) {
  tensors_.reserve(host.arrays.size());
  for (const HostArray& array : host.arrays) tensors_.push_back({array.name, view_of(array)});
}

Batch::Batch(std::vector<NamedTensor> tensors) : tensors_(std::move(tensors)), rows_(common_rows(tensors_)) {}

const at::Tensor& Batch::operator[](std::string_view name) const {
  for (const NamedTensor& item : tensors_)
    if (item.name == name) return item.tensor;
  std::string known;
  for (const NamedTensor& item : tensors_) known += (known.empty() ? "" : ", ") + item.name;
  throw UsageError(text("the batch has no array \"", name, "\"; it has: ", known.empty() ? "nothing" : known));
}

bool Batch::is_on(c10::Device device) const noexcept {
  return std::ranges::all_of(tensors_, [device](const NamedTensor& item) { return item.tensor.device() == device; });
}

Batch Batch::to(c10::Device device) const& {
  return Batch(*this).to(device);
}

Batch Batch::to(c10::Device device) && {
  for (NamedTensor& item : tensors_)
    if (item.tensor.device() != device) item.tensor = item.tensor.to(device, /*non_blocking=*/true);
  return std::move(*this);
}

}  // namespace ddpkit
