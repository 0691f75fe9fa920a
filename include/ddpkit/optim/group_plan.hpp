#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/optim/optimizer_options.hpp"

namespace ddpkit {

/// All that the choice of a group depends on.
struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// Parameters with equal hyperparameters.
struct GroupPlan {
  double lr_factor = 1;
  double weight_decay = 0;
  std::vector<std::size_t> members;  ///< indices of parameters, ascending

  bool operator==(const GroupPlan&) const = default;
};

/// Puts every parameter into exactly one group: the first of `options.groups` whose pattern matches its name, else the
/// optimizer's own settings. Under NoDecay::biases_and_norms parameters with one dimension or less have weight decay 0 in every
/// group. Groups come in the order of their first member, those with equal settings as one.
/// Throws ConfigError for a pattern that matches no name (with the nearest names), one that earlier patterns leave nothing for,
/// and one whose weight decay `no_decay` cancels for every member.
std::vector<GroupPlan> plan_groups(std::span<const ParameterShape> parameters, const OptimizerOptions& options);

}  // namespace ddpkit
