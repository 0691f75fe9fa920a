// A sharded update against a replicated one: equal bits, whatever is asked of both.
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <memory>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/optim/sharded_optimizer.hpp"
#include "support/catch.hpp"

namespace {

using namespace ddpkit;

constexpr double kShardRate = 0.05;

/// Larger than a block of the norm, smaller, permuted in memory, a single number, and one that comes and goes.
std::vector<NamedTensor> shard_parameters(at::ScalarType type) {
  torch::manual_seed(5);
  std::vector<NamedTensor> parameters;
  const auto add = [&](const std::string& name, at::IntArrayRef shape) {
    parameters.push_back({name, torch::randn(shape, at::kDouble).to(type).requires_grad_(true)});
  };
  add("wide.weight", {260, 300});
  add("wide.bias", {260});
  add("gain", {});
  add("rare.weight", {33, 7});
  parameters.push_back(
      {"conv.weight",
       torch::randn({8, 3, 5, 5}, at::kDouble).to(type).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_(true)});
  return parameters;
}

/// What a run does in a step besides; tells whether a parameter is used on this rank.
using Uses = std::function<bool(std::int64_t step, const NamedTensor& parameter)>;

/// The loss is linear, so that each rank's gradient is known: a wave whose phase depends on step and rank.
void shard_backward(const std::vector<NamedTensor>& parameters, std::int64_t step, int rank, const Uses& uses, double size) {
  torch::Tensor loss = torch::zeros({}, at::kDouble);
  for (const NamedTensor& item : parameters) {
    if (!item.tensor.requires_grad() || !uses(step, item)) continue;
    const torch::Tensor ramp = torch::arange(item.tensor.numel(), at::kDouble).reshape(item.tensor.sizes());
    const torch::Tensor slope = size * torch::sin(ramp * 0.7 + static_cast<double>(step) + 10.0 * rank);
    loss = loss + (item.tensor * slope.to(item.tensor.scalar_type())).sum().to(at::kDouble);
  }
  if (loss.requires_grad()) loss.backward();
}

struct ShardCase {
  OptimizerOptions options;
  at::ScalarType type = at::kFloat;
  double clip_norm = 0;
  double size = 1;
  std::int64_t bucket_kib = 1024;
  std::int64_t steps = 6;
  Uses uses = [](std::int64_t, const NamedTensor&) { return true; };
  std::function<void(std::int64_t, std::vector<NamedTensor>&)> between = [](std::int64_t, std::vector<NamedTensor>&) {};
};

struct ShardOutcome {
  std::vector<torch::Tensor> parameters;
  std::vector<NamedTensor> state;
  std::vector<double> norms;
};

std::vector<NamedTensor> cloned(std::vector<NamedTensor> items) {
  for (NamedTensor& item : items) item.tensor = item.tensor.detach().clone();
  return items;
}

std::unique_ptr<Optimizer> optimizer_for(GradReducer& reducer, const OptimizerOptions& options) {
  if (options.placement == UpdatePlacement::sharded) return std::make_unique<ShardedOptimizer>(reducer, options);
  return make_optimizer(reducer.parameters(), options);
}

ReducerOptions reducer_for(const OptimizerOptions& options, std::int64_t bucket_kib = 1024) {
  return {.tail_kib = bucket_kib,
          .deliver = options.placement == UpdatePlacement::sharded ? Delivery::as_is : Delivery::reduced};
}

ShardOutcome run_shards(ShardCase c, UpdatePlacement placement, Communicator& comm) {
  c.options.placement = placement;
  std::vector<NamedTensor> parameters = shard_parameters(c.type);
  ShardOutcome outcome;
  {
    GradReducer reducer(parameters, comm, reducer_for(c.options, c.bucket_kib));
    const auto optimizer = optimizer_for(reducer, c.options);
    for (std::int64_t step = 0; step < c.steps; ++step) {
      optimizer->prepare();
      shard_backward(parameters, step, comm.rank(), c.uses, c.size);
      const double pending = reducer.finish_unscaled({});
      outcome.norms.push_back(optimizer->step({.lr = kShardRate, .grad_scale = pending, .clip_norm = c.clip_norm}));
      optimizer->zero_grad();
      c.between(step, parameters);
    }
    outcome.state = cloned(optimizer->state());
  }
  for (const NamedTensor& item : parameters) outcome.parameters.push_back(item.tensor.detach());
  return outcome;
}

void check_equal(const ShardOutcome& a, const ShardOutcome& b) {
  CHECK(a.norms == b.norms);
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    CAPTURE(i);
    CHECK(torch::equal(a.parameters[i], b.parameters[i]));
    CHECK(a.parameters[i].strides() == b.parameters[i].strides());
  }
  REQUIRE(a.state.size() == b.state.size());
  for (std::size_t i = 0; i < a.state.size(); ++i) {
    CAPTURE(a.state[i].name);
    CHECK(a.state[i].name == b.state[i].name);
    CHECK(torch::equal(a.state[i].tensor, b.state[i].tensor));
  }
}

void check_placements_agree(const ShardCase& c, Communicator& comm) {
  check_equal(run_shards(c, UpdatePlacement::replicated, comm), run_shards(c, UpdatePlacement::sharded, comm));
}

std::vector<OptimizerOptions> rules_to_shard() {
  return {{.name = OptimizerKind::sgd, .weight_decay = 0.01},
          {.name = OptimizerKind::sgd, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01},
          {.name = OptimizerKind::sgd, .momentum = 0.9, .dampening = 0.2},
          {.name = OptimizerKind::adam, .weight_decay = 0.01},
          {.name = OptimizerKind::adamw, .weight_decay = 0.01, .groups = {{.match = "wide.*", .lr_factor = 0.5}}}};
}

}  // namespace

TEST_CASE("a sharded update has the bits of a replicated one, for every rule and type, clipped or not") {
  const auto comm = make_communicator();
  for (const OptimizerOptions& options : rules_to_shard())
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf})
      for (const double clip_norm : {0.0, 0.5}) {
        CAPTURE(name_of(options.name), options.momentum, at::toString(type), clip_norm);
        check_placements_agree({.options = options, .type = type, .clip_norm = clip_norm}, *comm);
      }
}

TEST_CASE("a sharded update does not depend on how gradients are cut into buckets") {
  const auto comm = make_communicator();
  ShardCase c{.options = {.name = OptimizerKind::adamw}};
  const ShardOutcome large = run_shards(c, UpdatePlacement::sharded, *comm);
  c.bucket_kib = 1;
  check_equal(large, run_shards(c, UpdatePlacement::sharded, *comm));
}

TEST_CASE("a hundred steps have the same bits sharded, replicated and over plain MPI, for every bucket size, on two ranks") {
  const auto node = make_communicator();
  if (node->world_size() != 2) return;  // where more numbers are added, MPI may take another order
  const auto apart = make_communicator({.ranks_per_node = 1});
  ShardCase c{.options = {.name = OptimizerKind::adamw, .weight_decay = 0.01}, .steps = 100};
  const ShardOutcome expected = run_shards(c, UpdatePlacement::replicated, *apart);
  for (const std::int64_t bucket_kib : {1, 64, 1024}) {
    c.bucket_kib = bucket_kib;
    CAPTURE(bucket_kib);
    check_equal(expected, run_shards(c, UpdatePlacement::replicated, *node));
    check_equal(expected, run_shards(c, UpdatePlacement::sharded, *node));
    check_equal(expected, run_shards(c, UpdatePlacement::sharded, *apart));
  }
}

TEST_CASE("ranks that share no memory send each other what they updated, and state is sharded all the same") {
  const auto apart = make_communicator({.ranks_per_node = 1});
  for (const OptimizerOptions& options : rules_to_shard())
    for (const double clip_norm : {0.0, 0.5}) {
      CAPTURE(name_of(options.name), options.momentum, clip_norm);
      check_placements_agree({.options = options, .clip_norm = clip_norm}, *apart);
    }
  const auto between = [](std::int64_t step, std::vector<NamedTensor>& parameters) {
    if (step == 1 || step == 3) parameters.front().tensor.requires_grad_(step == 3);
  };
  check_placements_agree({.options = {.name = OptimizerKind::adam}, .between = between}, *apart);
}

TEST_CASE("a parameter that no rank used keeps its state in a sharded update, one that some used gets zeros from the others") {
  const auto comm = make_communicator();
  const int rank = comm->rank();
  const Uses uses = [rank](std::int64_t step, const NamedTensor& parameter) {
    if (parameter.name == "rare.weight") return step == 2;
    return parameter.name != "wide.bias" || rank == 0;
  };
  for (const double clip_norm : {0.0, 0.5})
    check_placements_agree({.options = {.name = OptimizerKind::adamw}, .clip_norm = clip_norm, .uses = uses}, *comm);
}

TEST_CASE("parameters are frozen and set free again under a sharded update, with the state they had") {
  const auto comm = make_communicator();
  const auto between = [](std::int64_t step, std::vector<NamedTensor>& parameters) {
    if (step == 1 || step == 3) parameters.front().tensor.requires_grad_(step == 3);
    if (step == 0) parameters[3].tensor.requires_grad_(false);
    if (step == 4) parameters[3].tensor.requires_grad_(true);
  };
  check_placements_agree({.options = {.name = OptimizerKind::adamw}, .clip_norm = 0.5, .steps = 8, .between = between}, *comm);
}

TEST_CASE("gradients whose squares pass the range of float32 are updated when they are finite, and refused when not") {
  const auto comm = make_communicator();
  const ShardCase huge{.options = {.name = OptimizerKind::sgd}, .size = 1e25, .steps = 2};
  check_placements_agree(huge, *comm);
  ShardCase broken{.options = {.name = OptimizerKind::adamw}, .size = std::numeric_limits<double>::quiet_NaN(), .steps = 2};
  const ShardOutcome outcome = run_shards(broken, UpdatePlacement::sharded, *comm);
  CHECK_FALSE(std::isfinite(outcome.norms.front()));
  const std::vector<NamedTensor> before = shard_parameters(at::kFloat);
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(torch::equal(outcome.parameters[i], before[i].tensor));
}

TEST_CASE("a rank keeps its part of the optimizer's state only") {
  const auto comm = make_communicator();
  const OptimizerOptions options{.name = OptimizerKind::adamw, .placement = UpdatePlacement::sharded};
  const std::vector<NamedTensor> parameters = shard_parameters(at::kFloat);
  GradReducer reducer(parameters, *comm, reducer_for(options));
  const ShardedOptimizer optimizer(reducer, options);
  std::size_t whole = 0;
  for (const NamedTensor& item : parameters) whole += 2 * item.tensor.nbytes();
  const std::size_t page = 2 * 4096;
  CHECK(optimizer.state_bytes() <= whole / static_cast<std::size_t>(comm->world_size()) + 2 * page);
}

TEST_CASE("what a program writes to a sharded parameter is refused with its name, unless it is accepted") {
  const auto comm = make_communicator();
  if (comm->world_size() == 1) return;
  const OptimizerOptions options{.name = OptimizerKind::sgd, .placement = UpdatePlacement::sharded};
  const std::vector<NamedTensor> parameters = shard_parameters(at::kFloat);
  GradReducer reducer(parameters, *comm, reducer_for(options));
  ShardedOptimizer optimizer(reducer, options);
  optimizer.prepare();
  {
    const torch::NoGradGuard no_graph;
    parameters[1].tensor.copy_(torch::ones({260}));
  }
  CHECK_THROWS_WITH(optimizer.prepare(), Catch::Contains("wide.bias") && Catch::Contains("replicated"));
  optimizer.accept_parameters();
  optimizer.prepare();
  CHECK(torch::equal(parameters[1].tensor.detach(), torch::ones({260})));
  comm->barrier();
}

TEST_CASE("state goes from one placement to the other and back") {
  const auto comm = make_communicator();
  for (const UpdatePlacement first : {UpdatePlacement::replicated, UpdatePlacement::sharded}) {
    const UpdatePlacement second = first == UpdatePlacement::sharded ? UpdatePlacement::replicated : UpdatePlacement::sharded;
    const ShardCase c{.options = {.name = OptimizerKind::adamw}};
    const ShardOutcome saved = run_shards(c, first, *comm);
    OptimizerOptions options = c.options;
    options.placement = second;
    const std::vector<NamedTensor> parameters = shard_parameters(c.type);
    GradReducer reducer(parameters, *comm, reducer_for(options));
    const auto optimizer = optimizer_for(reducer, options);
    optimizer->load_state(saved.state);
    CHECK(optimizer->updates() == c.steps);
    const std::vector<NamedTensor> loaded = optimizer->state();
    for (std::size_t i = 0; i < loaded.size(); ++i) CHECK(torch::equal(loaded[i].tensor, saved.state[i].tensor));
    CHECK_THROWS_AS(optimizer->load_state(std::span(saved.state).subspan(2)), DataError);
    comm->barrier();
  }
}

TEST_CASE("parameters that cannot be shared are told before anything is moved") {
  const torch::Tensor whole = torch::zeros({8});
  const std::vector<NamedTensor> views{{"a", whole.slice(0, 0, 6)}, {"b", whole.slice(0, 4, 8)}};
  CHECK_THAT(why_not_sharded(views), Catch::Contains("a and b"));
  const std::vector<NamedTensor> gaps{{"a", torch::zeros({4, 4}).slice(1, 0, 2)}};
  CHECK_THAT(why_not_sharded(gaps), Catch::Contains("gaps"));
  const std::vector<NamedTensor> whole_ones{{"a", torch::zeros({4})}, {"b", torch::zeros({4})}};
  CHECK(why_not_sharded(whole_ones).empty());
}
