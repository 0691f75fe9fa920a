#include "config/scalar_field.hpp"

#include <cmath>

namespace ddpkit {

std::string_view noun_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::boolean: return "true or false";
    case FieldKind::integer: return "a whole number";
    case FieldKind::number: return "a number";
    case FieldKind::string: return "a text";
    case FieldKind::bytes: return "a size";
    case FieldKind::extent: return "a stretch";
    case FieldKind::duration: return "a duration";
    case FieldKind::choice: return "a name";
    case FieldKind::section: return "a mapping";
    case FieldKind::list: return "a list";
    case FieldKind::user: return "names with single values";
  }
  return "?";
}

std::string format_limit(FieldKind kind, double limit) {
  const auto whole = static_cast<std::int64_t>(limit);
  if (kind == FieldKind::integer) return format_scalar(whole);
  if (kind == FieldKind::bytes) return format_scalar(Bytes{whole});
  if (kind == FieldKind::duration) return format_scalar(std::chrono::milliseconds(whole));
  return format_scalar(limit);
}

std::string range_text(FieldKind kind, const Range& range) {
  const bool has_min = std::isfinite(range.min);
  const bool has_max = std::isfinite(range.max);
  const std::string max = has_max ? format_limit(kind, range.max) : "";
  if (!has_min) return has_max ? " of at most " + max : "";
  const std::string min = format_limit(kind, range.min);
  if (range.above_min) return " above " + min + (has_max ? " and at most " + max : "");
  return has_max ? " from " + min + " to " + max : " of at least " + min;
}

}  // namespace ddpkit
