#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

enum class OptimizerKind { sgd, adam, adamw };

constexpr auto enum_names(OptimizerKind) {
  return std::to_array<std::pair<OptimizerKind, std::string_view>>(
      {{OptimizerKind::sgd, "sgd"}, {OptimizerKind::adam, "adam"}, {OptimizerKind::adamw, "adamw"}});
}

/// Which parameters weight decay leaves alone.
enum class NoDecay {
  none,              ///< every parameter decays
  biases_and_norms,  ///< parameters with one dimension or less do not
};

constexpr auto enum_names(NoDecay) {
  return std::to_array<std::pair<NoDecay, std::string_view>>(
      {{NoDecay::none, "none"}, {NoDecay::biases_and_norms, "biases_and_norms"}});
}

/// Who updates a parameter.
enum class UpdatePlacement {
  replicated,  ///< every rank, its own copy
  sharded,     ///< one rank, which alone keeps the optimizer's state for it
};

constexpr auto enum_names(UpdatePlacement) {
  return std::to_array<std::pair<UpdatePlacement, std::string_view>>(
      {{UpdatePlacement::replicated, "replicated"}, {UpdatePlacement::sharded, "sharded"}});
}

/// Parameters whose name matches, with settings of their own. The first group that matches wins.
struct GroupOptions {
  std::string match{};  ///< glob over the parameter's name: "backbone.*", "*.bias"
  double lr_factor = 1;
  std::optional<double> weight_decay{};  ///< auto: the optimizer's own
};

template <class Visitor>
void visit_fields(Visitor& visit, GroupOptions& options) {
  visit("match", options.match, "names of the parameters, * and ? as in a shell: backbone.*, *.bias");
  visit("lr_factor", options.lr_factor, "learning rate of the group as a factor of the schedule's", at_least(0));
  visit("weight_decay", options.weight_decay, "weight decay of the group; auto: the optimizer's", at_least(0));
}

/// Section `optimizer`.
struct OptimizerOptions {
  OptimizerKind name = OptimizerKind::sgd;
  double lr = 0.1;
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  NoDecay no_decay = NoDecay::biases_and_norms;
  UpdatePlacement placement = UpdatePlacement::replicated;
  std::vector<GroupOptions> groups{};
};

template <class Visitor>
void visit_fields(Visitor& visit, OptimizerOptions& options) {
  visit("name", options.name, "the update rule");
  visit("lr", options.lr, "learning rate at schedule.reference_batch", at_least(0));
  visit("momentum", options.momentum, "sgd: momentum", between(0, 1));
  visit("dampening", options.dampening, "sgd: dampening of momentum", between(0, 1));
  visit("nesterov", options.nesterov, "sgd: Nesterov's momentum");
  visit("beta1", options.beta1, "adam, adamw: decay of the first moment", between(0, 1));
  visit("beta2", options.beta2, "adam, adamw: decay of the second moment", between(0, 1));
  visit("eps", options.eps, "adam, adamw: added to the denominator", above(0));
  visit("weight_decay", options.weight_decay, "sgd, adam: added to the gradient; adamw: decoupled", at_least(0));
  visit("no_decay", options.no_decay, "which parameters weight decay leaves alone");
  visit(
      "placement", options.placement,
      "who updates a parameter: every rank its own copy, or one rank for all, which alone keeps the optimizer's state for it");
  visit("groups", options.groups, "parameters with settings of their own, the first match wins");
}

}  // namespace ddpkit
