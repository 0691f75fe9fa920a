#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/data/dataset.hpp"
#include "ddpkit/tensor/sample_format.hpp"

namespace ddpkit {

/// A torch::data data set of known size whose samples are asked for by index. Not a stream or a stateful one.
template <class D>
concept MapStyleDataset = requires(D& dataset, c10::ArrayRef<std::size_t> ids) {
  dataset.get_batch(ids);
  { dataset.size().value() } -> std::convertible_to<std::size_t>;
};

/// Any map data set of torch::data, with its transforms, stacked or not:
///
///     TorchDataset train(torch::data::datasets::MNIST("mnist").map(torch::data::transforms::Normalize<>(0.13, 0.31)));
///
/// `data` of its examples becomes "input", and `target`, where they have one, "target". All samples must be alike in types and
/// shapes. `get_batch` is called from the loader's threads, perhaps several at once, and must be safe to call so; it is when it
/// only reads. Transforms that draw from LibTorch's process-wide generator work, but such a run cannot be repeated: prefer
/// those of data.transform.
template <MapStyleDataset D>
class TorchDataset final : public Dataset {
 public:
  /// Reads sample 0, which says what all samples consist of. Throws DataError when there is none.
  explicit TorchDataset(D dataset, std::string origin = "torch::data set")
      : dataset_(std::move(dataset)),
        size_(static_cast<std::int64_t>(dataset_.size().value())),
        format_(first_sample(origin), origin) {}

  std::int64_t size() const override { return size_; }
  std::span<const FieldSpec> fields() const override { return format_.fields(); }
  std::string origin() const override { return format_.origin(); }

  void gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const override {
    for (const std::int64_t id : ids)
      if (id < 0 || id >= size_) throw DataError(origin() + ": there is no sample " + std::to_string(id));
    const std::vector<std::size_t> wanted(ids.begin(), ids.end());
    const auto batch = dataset_.get_batch(wanted);
    for (std::size_t row = 0; row < ids.size(); ++row) format_.write(sample_in(batch, row), ids[row], row, out);
  }

 private:
  std::vector<NamedTensor> first_sample(const std::string& origin) const {
    if (size_ == 0) throw DataError(origin + ": there are no samples");
    const std::vector<std::size_t> first{0};
    return sample_in(dataset_.get_batch(first), 0);
  }

  /// A batch is a vector of examples or, after transforms::Stack, one example whose tensors have rows.
  template <class Batch>
  static std::vector<NamedTensor> sample_in(const Batch& batch, std::size_t row) {
    if constexpr (requires { batch.data; }) {
      std::vector<NamedTensor> sample = tensors_of(batch);
      for (NamedTensor& value : sample) value.tensor = value.tensor.select(0, static_cast<std::int64_t>(row));
      return sample;
    } else {
      return tensors_of(batch.at(row));
    }
  }

  template <class Example>
  static std::vector<NamedTensor> tensors_of(const Example& example) {
    if constexpr (requires { example.target; })
      return {{"input", example.data}, {"target", example.target}};
    else
      return {{"input", example.data}};
  }

  mutable D dataset_;  // LibTorch's get_batch is not const
  std::int64_t size_;
  SampleFormat format_;
};

}  // namespace ddpkit
