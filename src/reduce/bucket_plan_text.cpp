#include <algorithm>
#include <charconv>

#include "ddpkit/base/text.hpp"
#include "ddpkit/reduce/bucket_plan.hpp"

namespace ddpkit {
namespace {

using Numbers = std::vector<std::size_t>;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

/// Marks the numbers of one bucket as taken. Nothing when one was taken before, is out of range, or has another type.
std::optional<Numbers> numbers_of(std::string_view text, std::span<const GradientSpec> gradients, std::vector<char>& taken) {
  Numbers numbers;
  for (const std::string_view part : split(text, ',')) {
    const auto number = number_of(part);
    if (!number || *number >= gradients.size() || taken[*number]) return std::nullopt;
    if (!numbers.empty() && gradients[numbers.front()].dtype != gradients[*number].dtype) return std::nullopt;
    taken[*number] = true;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::string to_text(const BucketPlan& plan) {
  std::string result;
  for (const Bucket& bucket : plan.buckets) {
    if (!result.empty()) result += ';';
    for (std::size_t i = 0; i < bucket.slots.size(); ++i) result += text(i == 0 ? "" : ",", bucket.slots[i].parameter);
  }
  return result;
}

std::optional<BucketPlan> plan_from_text(std::string_view text, std::span<const GradientSpec> gradients) {
  BucketPlan plan;
  if (gradients.empty()) return text.empty() ? std::optional(plan) : std::nullopt;
  std::vector<char> taken(gradients.size());
  for (const std::string_view part : split(text, ';')) {
    const auto numbers = numbers_of(part, gradients, taken);
    if (!numbers) return std::nullopt;
    plan.buckets.push_back(make_bucket(gradients, *numbers));
  }
  return std::count(taken.begin(), taken.end(), 0) == 0 ? std::optional(plan) : std::nullopt;
}

}  // namespace ddpkit
