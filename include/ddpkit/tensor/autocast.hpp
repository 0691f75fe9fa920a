#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <optional>

namespace ddpkit {

/// The type that LibTorch's autocast computes in on this thread and kind of device; empty where it is off.
std::optional<c10::ScalarType> autocast_type(c10::DeviceType device);

/// While it lives, LibTorch computes on this thread what gains by it (matrix products, convolutions) in `type`, and what would
/// lose by it in float32; parameters and their gradients keep their type. Meant around forward alone: backward follows the
/// types of forward. Empty: autocast is off. Scopes nest; the last one to end drops the copies of the parameters.
///
///     const AutocastScope scope(at::kCPU, at::kBFloat16);
class AutocastScope {
 public:
  AutocastScope(c10::DeviceType device, std::optional<c10::ScalarType> type);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  c10::DeviceType device_;
  std::optional<c10::ScalarType> before_;
  c10::ScalarType type_before_;
};

}  // namespace ddpkit
