#include "ddpkit/tensor/sample_format.hpp"

#include <cstring>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/tensor/as_buffer.hpp"

namespace ddpkit {

SampleFormat::SampleFormat(std::span<const NamedTensor> sample, std::string origin) : origin_(std::move(origin)) {
  for (const NamedTensor& value : sample)
    fields_.push_back({value.name, dtype_of_tensor(value.tensor), value.tensor.sizes().vec()});
}

void SampleFormat::write(std::span<const NamedTensor> sample, std::int64_t id, std::size_t row,
                         std::span<std::byte* const> out) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    require_equal(sample[i], fields_[i], id);
    const at::Tensor host = sample[i].tensor.detach().to(c10::kCPU).contiguous();
    const std::size_t bytes = fields_[i].sample_bytes();
    if (bytes > 0) std::memcpy(out[i] + row * bytes, host.const_data_ptr(), bytes);
  }
}

void SampleFormat::require_equal(const NamedTensor& value, const FieldSpec& field, std::int64_t id) const {
  const at::ScalarType type = scalar_type_of(field.dtype);
  if (value.tensor.sizes() == field.shape && value.tensor.scalar_type() == type) return;
  throw DataError(text(origin_, ": sample ", id, " has ", field.name, " of ", value.tensor.scalar_type(), " ",
                       value.tensor.sizes(), ", expected ", type, " ", at::IntArrayRef(field.shape),
                       " as in sample 0; samples of one data set are alike: crop, pad or resize them in a transform"));
}

}  // namespace ddpkit
