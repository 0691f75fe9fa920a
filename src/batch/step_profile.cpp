#include "ddpkit/batch/step_profile.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t hash(std::uint64_t start, std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char byte : bytes) start = (start ^ static_cast<unsigned char>(byte)) * kPrime;
  return start;
}

std::string hexadecimal(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); value != 0; value /= 16) *digit++ = kDigits[value % 16];
  return digits;
}

struct JsonWriter {
  Json& object;

  template <class T>
  void operator()(std::string_view name, T& value, std::string_view, const Range& = {}) {
    object[std::string(name)] = json_of(value);
  }

  template <class T>
  static Json json_of(T& value) {
    return value;
  }
  static Json json_of(std::vector<GradientTiming>& gradients) {
    Json list = Json::array();
    for (GradientTiming& gradient : gradients) {
      JsonWriter writer{list.emplace_back(Json::object())};
      visit_fields(writer, gradient);
    }
    return list;
  }
};

}  // namespace

std::int64_t StepProfile::gradient_bytes() const noexcept {
  std::int64_t total = 0;
  for (const GradientTiming& gradient : gradients) total += gradient.bytes;
  return total;
}

std::string model_digest(std::span<const GradientTiming> gradients) {
  std::vector<std::string> lines;
  for (const GradientTiming& gradient : gradients) lines.push_back(text(gradient.name, '\n', gradient.bytes, '\n'));
  std::sort(lines.begin(), lines.end());
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const std::string& line : lines) digest = hash(digest, line);
  return hexadecimal(digest);
}

std::string to_json(const StepProfile& profile) {
  StepProfile copy = profile;  // fields are visited as variables, for the reader's sake
  if (copy.digest.empty()) copy.digest = model_digest(copy.gradients);
  Json document{{"format", kStepProfileFormat}, {"version", kStepProfileVersion}};
  JsonWriter writer{document};
  visit_fields(writer, copy);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace ddpkit
