#include "ddpkit/optim/group_plan.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kNamesShown = 3;

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

// "backbon.*" should find "backbone.conv1.weight": what is left of the pattern without outer wildcards is compared with every
// run of dotted parts that begins or ends the name.
std::size_t distance_to_name(std::string_view pattern, std::string_view name) {
  const auto first = pattern.find_first_not_of("*?.");
  if (first == std::string_view::npos) return name.size();
  const std::string_view core = pattern.substr(first, pattern.find_last_not_of("*?.") - first + 1);
  std::size_t best = edit_distance(core, name);
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1))
    best = std::min({best, edit_distance(core, name.substr(0, dot)), edit_distance(core, name.substr(dot + 1))});
  return best;
}

std::string nearest_parameters(std::span<const ParameterShape> parameters, const std::string& pattern) {
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const auto& parameter : parameters) ranked.emplace_back(distance_to_name(pattern, parameter.name), parameter.name);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamesShown, ranked.size()); ++i) names += text(i ? ", " : "", ranked[i].second);
  return names.empty() ? "none" : names;
}

bool is_exempt(const ParameterShape& parameter, const OptimizerOptions& options) {
  return options.no_decay == NoDecay::biases_and_norms && parameter.shape.size() <= 1;
}

constexpr std::size_t kNoPattern = static_cast<std::size_t>(-1);

std::size_t first_match(const std::string& name, const std::vector<GroupOptions>& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (matches(groups[i].match, name)) return i;
  return kNoPattern;
}

void check_group(std::size_t index, std::span<const ParameterShape> parameters, std::span<const std::size_t> chosen,
                 const OptimizerOptions& options) {
  const GroupOptions& group = options.groups[index];
  const std::string where = text("optimizer.groups[", index, "]: match '", group.match, "' ");
  const auto matched = [&](const ParameterShape& p) { return matches(group.match, p.name); };
  if (std::none_of(parameters.begin(), parameters.end(), matched))
    throw ConfigError(
        text(where, "fits none of ", parameters.size(), " parameters; nearest: ", nearest_parameters(parameters, group.match)));
  bool wins = false, decays = false;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (chosen[i] != index) continue;
    wins = true;
    decays = decays || !is_exempt(parameters[i], options);
  }
  if (!wins) throw ConfigError(text(where, "fits only parameters that earlier groups have taken; put it before them"));
  if (group.weight_decay.value_or(0) > 0 && !decays)
    throw ConfigError(text(where, "asks for weight decay ", *group.weight_decay,
                           " where optimizer.no_decay is biases_and_norms and every member has one dimension or less; set "
                           "optimizer.no_decay to none"));
}

GroupPlan settings_of(const ParameterShape& parameter, std::size_t pattern, const OptimizerOptions& options) {
  GroupPlan plan;
  plan.weight_decay = options.weight_decay;
  if (pattern != kNoPattern) {
    plan.lr_factor = options.groups[pattern].lr_factor;
    plan.weight_decay = options.groups[pattern].weight_decay.value_or(options.weight_decay);
  }
  if (is_exempt(parameter, options)) plan.weight_decay = 0;
  return plan;
}

}  // namespace

std::vector<GroupPlan> plan_groups(std::span<const ParameterShape> parameters, const OptimizerOptions& options) {
  std::vector<std::size_t> chosen;
  for (const auto& parameter : parameters) chosen.push_back(first_match(parameter.name, options.groups));
  for (std::size_t i = 0; i < options.groups.size(); ++i) check_group(i, parameters, chosen, options);

  std::vector<GroupPlan> plans;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const GroupPlan wanted = settings_of(parameters[i], chosen[i], options);
    auto plan = std::find_if(plans.begin(), plans.end(), [&](const GroupPlan& other) {
      return other.lr_factor == wanted.lr_factor && other.weight_decay == wanted.weight_decay;
    });
    if (plan == plans.end()) plan = plans.insert(plans.end(), wanted);
    plan->members.push_back(i);
  }
  return plans;
}

}  // namespace ddpkit
