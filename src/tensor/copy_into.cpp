#include "ddpkit/tensor/copy_into.hpp"

#include <ATen/core/grad_mode.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

using TensorsByName = std::map<std::string_view, const at::Tensor*>;
using CopyPairs = std::vector<std::pair<at::Tensor, const at::Tensor*>>;

TensorsByName by_unique_name(std::span<const NamedTensor> tensors, std::string_view origin) {
  TensorsByName found;
  for (const auto& [name, tensor] : tensors)
    if (!found.emplace(name, &tensor).second) throw DataError(text(origin, ": the name ", name, " occurs twice"));
  return found;
}

std::string type_and_shape(const at::Tensor& tensor) {
  return text(at::toString(tensor.scalar_type()), " ", tensor.sizes());
}

bool fits(const at::Tensor& destination, const at::Tensor& source) {
  const bool truth_from_file = destination.scalar_type() == at::kBool && source.scalar_type() == at::kByte;
  return (destination.scalar_type() == source.scalar_type() || truth_from_file) && destination.sizes() == source.sizes();
}

void append_line(std::string& report, std::string_view kind, std::string_view name) {
  report += text("\n  ", kind, " ", name);
}

CopyPairs matching_pairs(std::span<const NamedTensor> destinations, std::span<const NamedTensor> source, Match match,
                         std::string_view origin) {
  const TensorsByName given = by_unique_name(source, origin);
  const TensorsByName wanted = by_unique_name(destinations, "destination");
  CopyPairs pairs;
  std::string report;
  for (const auto& [name, tensor] : destinations) {
    const auto found = given.find(name);
    if (found == given.end()) {
      if (match == Match::strict) append_line(report, "missing", name);
    } else if (!fits(tensor, *found->second)) {
      append_line(report, "different",
                  text(name, ": expected ", type_and_shape(tensor), ", got ", type_and_shape(*found->second)));
    } else {
      pairs.emplace_back(tensor, found->second);
    }
  }
  if (match == Match::strict)
    for (const auto& named : source)
      if (!wanted.contains(named.name)) append_line(report, "unexpected", named.name);
  if (match == Match::by_name && report.empty() && pairs.empty() && !destinations.empty())
    report = text("\n  no name is shared; expected for example ", destinations.front().name,
                  source.empty() ? "" : text(", got for example ", source.front().name));
  if (!report.empty()) throw DataError(text(origin, " does not fit:", report));
  return pairs;
}

}  // namespace

void require_match(std::span<const NamedTensor> destinations, std::span<const NamedTensor> source, Match match,
                   std::string_view origin) {
  matching_pairs(destinations, source, match, origin);
}

std::size_t copy_into(std::span<const NamedTensor> destinations, std::span<const NamedTensor> source, Match match,
                      std::string_view origin) {
  CopyPairs pairs = matching_pairs(destinations, source, match, origin);
  const at::NoGradGuard no_grad;
  for (auto& [destination, tensor] : pairs) destination.copy_(*tensor);
  return pairs.size();
}

}  // namespace ddpkit
