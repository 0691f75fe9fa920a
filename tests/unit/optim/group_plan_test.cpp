#include "ddpkit/optim/group_plan.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

const std::vector<ParameterShape> kNet = {
    {"backbone.conv.weight", {8, 3, 3, 3}}, {"backbone.norm.weight", {8}}, {"head.weight", {10, 8}}, {"head.bias", {10}}};

std::string group_error(const OptimizerOptions& options) {
  try {
    plan_groups(kNet, options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

OptimizerOptions with_groups(std::vector<GroupOptions> groups) {
  OptimizerOptions options;
  options.weight_decay = 0.1;
  options.groups = std::move(groups);
  return options;
}

}  // namespace

TEST_CASE("every parameter is in exactly one group, in order of first member") {
  struct Row {
    std::string claim;
    OptimizerOptions options;
    std::vector<GroupPlan> expected;
  };
  OptimizerOptions all_decay = with_groups({});
  all_decay.no_decay = NoDecay::none;
  OptimizerOptions decaying_bias = with_groups({{"*.bias", 1, 0.5}});
  decaying_bias.no_decay = NoDecay::none;
  const std::vector<Row> rows = {
      {"biases and norms do not decay", with_groups({}), {{1, 0.1, {0, 2}}, {1, 0, {1, 3}}}},
      {"unless all do", all_decay, {{1, 0.1, {0, 1, 2, 3}}}},
      {"a star spans dots",
       with_groups({{"backbone.*", 0.5, {}}}),
       {{0.5, 0.1, {0}}, {0.5, 0, {1}}, {1, 0.1, {2}}, {1, 0, {3}}}},
      {"a question mark is one character",
       with_groups({{"h??d.weight", 2, {}}}),
       {{1, 0.1, {0}}, {1, 0, {1, 3}}, {2, 0.1, {2}}}},
      {"the first match wins",
       with_groups({{"*.conv.*", 3, {}}, {"backbone.*", 2, {}}}),
       {{3, 0.1, {0}}, {2, 0, {1}}, {1, 0.1, {2}}, {1, 0, {3}}}},
      {"a group has a decay of its own", with_groups({{"head.*", 1, 0.2}}), {{1, 0.1, {0}}, {1, 0, {1, 3}}, {1, 0.2, {2}}}},
      {"also for biases when they may decay", decaying_bias, {{1, 0.1, {0, 1, 2}}, {1, 0.5, {3}}}},
      {"equal settings are one group", with_groups({{"head.*", 1, 0.1}}), {{1, 0.1, {0, 2}}, {1, 0, {1, 3}}}},
  };
  for (const Row& row : rows) {
    INFO(row.claim);
    const bool equal =
        plan_groups(kNet, row.options) == row.expected;  // LibTorch's operator<< for vectors breaks CHECK(a == b)
    CHECK(equal);
  }
}

TEST_CASE("a model without parameters has no groups") {
  CHECK(plan_groups({}, {}).empty());
}

TEST_CASE("a pattern that fits nothing is refused with the nearest names") {
  const std::string prefix = group_error(with_groups({{"head.*", 1, {}}, {"backbon.*", 0.1, {}}}));
  CHECK(prefix.find("optimizer.groups[1]: match 'backbon.*' fits none of 4 parameters") != std::string::npos);
  CHECK(prefix.find("nearest: backbone.conv.weight, backbone.norm.weight") != std::string::npos);
  const std::string suffix = group_error(with_groups({{"*.bais", 1, {}}}));
  CHECK(suffix.find("nearest: head.bias") != std::string::npos);
}

TEST_CASE("a pattern that earlier groups leave nothing for is refused") {
  const std::string message = group_error(with_groups({{"*", 1, {}}, {"head.*", 0.1, {}}}));
  CHECK(message.find("optimizer.groups[1]: match 'head.*' fits only parameters that earlier groups have taken") !=
        std::string::npos);
}

TEST_CASE("a decay for biases is refused while biases do not decay") {
  CHECK(group_error(with_groups({{"*.bias", 1, 0.5}})).find("set optimizer.no_decay to none") != std::string::npos);
}
