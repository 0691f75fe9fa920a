#include "train/located_loss.hpp"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/tensor/out_of_memory.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kListedSamples = 4;

std::string samples_of(const Batch& batch) {
  const auto ids = batch.ids();
  std::string list;
  for (std::size_t i = 0; i < ids.size() && i < kListedSamples; ++i) list += text(i == 0 ? "samples " : ", ", ids[i]);
  return ids.size() > kListedSamples ? text(list, " and ", ids.size() - kListedSamples, " more") : list;
}

/// The integer targets, one for each sample; undefined where the batch has none such.
at::Tensor labels_of(const Batch& batch) {
  for (const NamedTensor& item : batch.tensors())
    if (item.name == "target" && at::isIntegralType(item.tensor.scalar_type(), /*includeBool=*/false) &&
        item.tensor.numel() == std::ssize(batch.ids()) && item.tensor.numel() > 0)
      return item.tensor.cpu().to(at::kLong).contiguous();
  return {};
}

std::string at_sample(const Batch& batch, const at::Tensor& labels, const at::Tensor& row) {
  const auto index = row.item<std::int64_t>();
  return text(labels.const_data_ptr<std::int64_t>()[index], " (sample ", batch.ids()[static_cast<std::size_t>(index)], ")");
}

std::string account_of(const std::string& place, const Batch& batch) {
  std::string account = text(place, ", micro-batch ", batch.micro_index());
  if (const std::string samples = samples_of(batch); !samples.empty()) account += ", " + samples;
  if (const at::Tensor labels = labels_of(batch); labels.defined())
    account +=
        text(", targets from ", at_sample(batch, labels, labels.argmin()), " to ", at_sample(batch, labels, labels.argmax()));
  return account;
}

/// The present exception of the loss function, with its place.
[[noreturn]] void rethrow_with(const std::string& account, const Batch& batch) {
  try {
    throw;
  } catch (const Error& error) {
    Error told(text("the loss function failed at ", account, ": ", error.what()), error.status());
    if (error.on_all_ranks()) told.mark_on_all_ranks();
    throw told;
  } catch (const c10::IndexError& error) {
    const std::string message = text("the loss function failed at ", account, ": ", error.what_without_backtrace());
    if (labels_of(batch).defined()) throw DataError(message + "; does the model have an output for every class?");
    throw Error(message);
  } catch (const c10::Error& error) {
    throw Error(text("the loss function failed at ", account, ": ", error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw Error(text("the loss function failed at ", account, ": ", error.what()));
  }
}

}  // namespace

LossFunction located(LossFunction loss, std::function<std::string()> place) {
  return [loss = std::move(loss), place = std::move(place)](const Batch& batch) -> Loss {
    try {
      return loss(batch);
    } catch (const std::exception& error) {
      if (out_of_memory(error)) throw;  // the stepper's, who knows what to do
      rethrow_with(account_of(place(), batch), batch);
    }
  };
}

}  // namespace ddpkit
