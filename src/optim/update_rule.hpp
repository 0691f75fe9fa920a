#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ddpkit/base/dtype.hpp"
#include "ddpkit/optim/group_plan.hpp"
#include "ddpkit/optim/optimizer_options.hpp"
#include "ddpkit/optim/update_context.hpp"

namespace ddpkit {

/// Names of what an optimizer keeps for each element of a parameter: "exp_avg", "exp_avg_sq"; "momentum_buffer"; none.
/// Throws ConfigError for settings that contradict each other.
std::vector<std::string> moment_names(const OptimizerOptions& options);

/// The numbers of one update of parameters that share their settings; what is multiplied once is folded in.
struct UpdateRule {
  OptimizerKind kind = OptimizerKind::sgd;
  double lr = 0;
  double weight_decay = 0;
  double grad_scale = 1;      ///< 1/N, loss scale and clipping
  double momentum = 0;        ///< sgd
  double gradient_share = 1;  ///< sgd: of the gradient in the momentum: 1 - dampening, 1 in the first update
  bool nesterov = false;      ///< sgd
  double beta1 = 0;           ///< adam, adamw, like the next four
  double beta2 = 0;
  double eps = 0;
  double bias_correction1 = 1;
  double bias_correction2 = 1;
};

/// `updates`: of the parameters, this one included. `grad_scale`: after clipping.
UpdateRule make_rule(const OptimizerOptions& options, const GroupPlan& group, const UpdateContext& context, double grad_scale,
                     std::int64_t updates);

/// Elements that lie side by side in a parameter, and what belongs to them.
struct UpdateStrip {
  void* parameter = nullptr;
  const void* gradient = nullptr;
  std::array<void*, 2> moments{};  ///< in the order of moment_names
  std::int64_t count = 0;
};

/// A rule made ready for host memory of one type, so that its numbers are rounded once and not for every strip. Element by
/// element in the calling thread: the bits depend neither on how a parameter is cut into strips nor on how wide the machine's
/// vectors are. Threads may share one.
class ElementUpdate {
 public:
  /// Throws UsageError for integers.
  ElementUpdate(const UpdateRule& rule, DType dtype);

  void operator()(const UpdateStrip& strip) const { run_(element_.data(), strip); }

 private:
  template <class T>
  void make_ready(const UpdateRule& rule);

  alignas(double) std::array<std::byte, 10 * sizeof(double)> element_;  // the functor of element_rules.hpp
  void (*run_)(const void* element, const UpdateStrip& strip) = nullptr;
};

/// The same for a single strip.
void update_elements(const UpdateRule& rule, DType dtype, const UpdateStrip& strip);

}  // namespace ddpkit
