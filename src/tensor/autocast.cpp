#include "ddpkit/tensor/autocast.hpp"

#include <ATen/autocast_mode.h>

namespace ddpkit {

std::optional<c10::ScalarType> autocast_type(c10::DeviceType device) {
  if (!at::autocast::is_autocast_enabled(device)) return std::nullopt;
  return at::autocast::get_autocast_dtype(device);
}

AutocastScope::AutocastScope(c10::DeviceType device, std::optional<c10::ScalarType> type)
    : device_(device), before_(autocast_type(device)), type_before_(at::autocast::get_autocast_dtype(device)) {
  at::autocast::increment_nesting();
  at::autocast::set_autocast_enabled(device, type.has_value());
  if (type) at::autocast::set_autocast_dtype(device, *type);
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, before_.has_value());
  at::autocast::set_autocast_dtype(device_, type_before_);
}

}  // namespace ddpkit
