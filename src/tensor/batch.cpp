#include "ddpkit/tensor/batch.hpp"

#include <ATen/ops/from_blob.h>
#include <c10/core/Event.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <optional>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/tensor/as_buffer.hpp"

namespace ddpkit {
namespace {

at::Tensor view_of(const HostArray& array) {
  return at::from_blob(
      array.bytes.get(), array.shape, [bytes = array.bytes](void*) {}, at::dtype(scalar_type_of(array.dtype)));
}

/// Whether a view made before is what `view_of` would make now; it was in the hands of the program since.
bool still_views(const at::Tensor& view, const HostArray& array) {
  return view.const_data_ptr() == array.bytes.get() && view.sizes() == array.shape && view.is_contiguous() &&
         view.scalar_type() == scalar_type_of(array.dtype) && !view.requires_grad() &&
         view.is_inference() == c10::InferenceMode::is_enabled();
}

/// The tensors over a batch's arrays, kept with their memory.
class ArrayViews final : public HostBatch::Extension {
 public:
  bool unused() const noexcept override {
    if (copied && !copied->query()) return false;
    return std::ranges::all_of(tensors, [](const NamedTensor& item) {
      return item.tensor.use_count() == 1 && item.tensor.storage().use_count() == 1;
    });
  }

  void mark_copied(c10::Device device) {
    const c10::impl::VirtualGuardImpl guard(device.type());
    copied.emplace(device.type());
    copied->record(guard.getStream(device));
  }

  bool fit(const std::vector<HostArray>& arrays) const {
    return std::ranges::equal(tensors, arrays, [](const NamedTensor& item, const HostArray& array) {
      return item.name == array.name && still_views(item.tensor, array);
    });
  }

  std::vector<NamedTensor> tensors;
  std::optional<c10::Event> copied{};  ///< behind the copies to a GPU that read the arrays, which the host does not wait for
};

std::shared_ptr<const std::vector<NamedTensor>> views_of(const HostBatch& host) {
  auto views = std::static_pointer_cast<ArrayViews>(host.extension);
  if (!views || !views->fit(host.arrays)) {
    views = std::make_shared<ArrayViews>();
    for (const HostArray& array : host.arrays) views->tensors.push_back({array.name, view_of(array)});
    host.extension = views;
  }
  return {views, &views->tensors};
}

std::int64_t common_rows(std::span<const NamedTensor> tensors) {
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

Batch::Batch(std::shared_ptr<const HostBatch> host)
    : host_(std::move(host)), tensors_(views_of(*host_)), rows_(host_->rows), micro_index_(host_->micro_index) {}

Batch::Batch(std::vector<NamedTensor> tensors)
    : tensors_(std::make_shared<const std::vector<NamedTensor>>(std::move(tensors))), rows_(common_rows(*tensors_)) {}

std::span<const NamedTensor> Batch::tensors() const noexcept {
  return tensors_ ? std::span<const NamedTensor>(*tensors_) : std::span<const NamedTensor>();
}

std::span<const std::int64_t> Batch::ids() const noexcept {
  return host_ ? std::span<const std::int64_t>(host_->ids) : std::span<const std::int64_t>();
}

const at::Tensor& Batch::operator[](std::string_view name) const {
  for (const NamedTensor& item : tensors())
    if (item.name == name) return item.tensor;
  std::string known;
  for (const NamedTensor& item : tensors()) known += (known.empty() ? "" : ", ") + item.name;
  throw UsageError(text("the batch has no array \"", name, "\"; it has: ", known.empty() ? "nothing" : known));
}

bool Batch::is_on(c10::Device device) const noexcept {
  return std::ranges::all_of(tensors(), [device](const NamedTensor& item) { return item.tensor.device() == device; });
}

/// The copies may still be under way when this returns: until they are done the arrays are in use.
Batch Batch::to(c10::Device device) const {
  Batch moved = *this;
  if (is_on(device)) return moved;
  std::vector<NamedTensor> there(tensors().begin(), tensors().end());
  for (NamedTensor& item : there) item.tensor = item.tensor.to(device, /*non_blocking=*/true);
  moved.tensors_ = std::make_shared<const std::vector<NamedTensor>>(std::move(there));
  if (host_ && host_->extension) static_cast<ArrayViews&>(*host_->extension).mark_copied(device);
  return moved;
}

}  // namespace ddpkit
