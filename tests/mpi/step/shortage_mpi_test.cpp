// A rank whose memory runs out, at every point of a window.
#include <torch/torch.h>

#include <utility>

#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/data/loader.hpp"
#include "ddpkit/data/sequential_order.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/reduce/inline_reducer.hpp"
#include "ddpkit/schedule/schedule_plan.hpp"
#include "ddpkit/step/stepper.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "ddpkit/tensor/memory_meter.hpp"
#include "support/catch.hpp"
#include "support/toy_problem.hpp"

namespace ddpkit::testing {
namespace {

constexpr std::int64_t kShortGlobal = 24;
constexpr std::int64_t kShortAccumulate = 2;

[[noreturn]] void run_out() {
  TORCH_CHECK_WITH(OutOfMemoryError, false, "refused by the test");
}

/// Throws as the loader would when the host has nothing left.
class StarvedDataset final : public Dataset {
 public:
  std::int64_t size() const override { return data_.size(); }
  std::span<const FieldSpec> fields() const override { return data_.fields(); }
  void gather(std::span<const std::int64_t> ids, std::span<std::byte* const> out) const override {
    if (on_gather) on_gather();
    data_.gather(ids, out);
  }
  std::function<void()> on_gather;

 private:
  ToyDataset data_{10 * kShortGlobal};
};

enum class ReducerKind { overlapping, after_backward, one_by_one, sharded };

/// A loop in which memory can be made to run out anywhere.
class ShortLoop {
 public:
  ShortLoop(Communicator& ranks, ReducerKind kind, OnShortage on_shortage = OnShortage::report)
      : order(data.size()),
        loader(data, order,
               {.sampler = {.global = kShortGlobal, .rank = ranks.rank(), .world_size = ranks.world_size()},
                .micro = kShortGlobal / ranks.world_size() / kShortAccumulate,
                .workers = 0}),
        reducer(make_reducer(ranks, kind)),
        optimizer(optimizer_for(kind)),
        stepper(*reducer, *optimizer, schedule) {
    stepper.set_on_shortage(on_shortage);
    stepper.on_micro_batch = [this](const Batch& batch, const Loss&) { pass("metrics", batch.micro_index()); };
    stepper.buffers = [this] {
      if (!std::exchange(prepared, true)) pass("optimizer", at_micro);
      return std::vector<NamedTensor>{};
    };
    data.on_gather = [this] { pass("batch", gathered++); };
    for (const auto& item : model->named_parameters())
      item.value().register_hook([this, name = item.key()](const torch::Tensor& gradient) {
        pass(name, micro_index);
        return gradient;
      });
  }

  /// What the window will fail at: a place and the micro-batch. Empty: nowhere.
  std::string place;
  std::int64_t at_micro = 0;

  StepResult run(const Window& window) {
    gathered = 0;
    prepared = false;
    return stepper.run(window, [this](const Batch& batch) {
      micro_index = batch.micro_index();
      pass("forward", micro_index);
      return toy_loss(model, batch);
    });
  }

  std::vector<std::string> places() const {
    std::vector<std::string> all{"batch", "forward", "metrics", "optimizer"};
    for (const auto& item : model->named_parameters()) all.push_back(item.key());
    return all;
  }

  torch::nn::Sequential model = deep_model();
  StarvedDataset data;
  SequentialOrder order;
  Loader loader;
  LrSchedule schedule{plan_schedule({}, {.steps = 1000, .steps_per_epoch = 10}), 0.01};
  std::unique_ptr<Reducer> reducer;
  std::unique_ptr<Optimizer> optimizer;
  Stepper stepper;

 private:
  static torch::nn::Sequential deep_model() {
    torch::manual_seed(2);
    torch::nn::Sequential deep(torch::nn::Linear(kToyInputs, 32), torch::nn::Tanh(), torch::nn::Linear(32, 16),
                               torch::nn::Tanh(), torch::nn::Linear(16, kToyOutputs));
    deep->to(torch::kDouble);
    return deep;
  }
  std::unique_ptr<Reducer> make_reducer(Communicator& ranks, ReducerKind kind) const {
    const auto parameters = named_tensors(model->named_parameters());
    if (kind == ReducerKind::one_by_one) return std::make_unique<InlineReducer>(parameters, ranks);
    const Overlap overlap = kind == ReducerKind::overlapping ? Overlap::on : Overlap::off;
    const Delivery deliver = kind == ReducerKind::sharded ? Delivery::as_is : Delivery::reduced;
    return std::make_unique<GradReducer>(parameters, ranks,
                                         ReducerOptions{.tail_kib = 1, .overlap = overlap, .deliver = deliver});
  }
  std::unique_ptr<Optimizer> optimizer_for(ReducerKind kind) const {
    OptimizerOptions options{.name = OptimizerKind::adamw};
    if (kind != ReducerKind::sharded) return make_optimizer(named_tensors(model->named_parameters()), options);
    options.placement = UpdatePlacement::sharded;
    return make_optimizer(dynamic_cast<GradReducer&>(*reducer), options);
  }
  void pass(const std::string& here, std::int64_t micro) const {
    if (here == place && micro == at_micro) run_out();
  }

  std::int64_t gathered = 0;
  std::int64_t micro_index = 0;
  bool prepared = false;
};

MemoryPhase phase_of(const std::string& place) {
  if (place == "batch") return MemoryPhase::batch;
  if (place == "forward") return MemoryPhase::forward;
  if (place == "metrics") return MemoryPhase::metrics;
  return place == "optimizer" ? MemoryPhase::optimizer : MemoryPhase::backward;
}

bool no_gradients(const torch::nn::Module& model) {
  for (const torch::Tensor& parameter : model.parameters())
    if (parameter.grad().defined()) return false;
  return true;
}

/// The first rank, the last, or all.
enum class Who { first, last, all };

bool is_one_of(Who who, const Communicator& ranks) {
  return who == Who::all || ranks.rank() == (who == Who::first ? 0 : ranks.world_size() - 1);
}

}  // namespace

TEST_CASE("memory that runs out anywhere, on any rank, gives the window up everywhere, and the next try is as the first") {
  const auto ranks = make_communicator();
  for (const ReducerKind kind :
       {ReducerKind::overlapping, ReducerKind::after_backward, ReducerKind::one_by_one, ReducerKind::sharded}) {
    ShortLoop starved(*ranks, kind);
    ShortLoop undisturbed(*ranks, kind);
    starved.stepper.set_noise(GradientNoise::measured);  // whose norms are taken on the way, and must not get in it
    for (const std::string& place : starved.places())
      for (const Who who : {Who::first, Who::last, Who::all})
        for (std::int64_t micro = 0; micro < kShortAccumulate; ++micro) {
          CAPTURE(kind, place, who, micro);
          const bool mine = is_one_of(who, *ranks);
          const Window window = starved.loader.next_window();
          const Progress before = starved.stepper.progress();
          starved.at_micro = micro;
          for (int time = 0; time < 2; ++time) {  // twice in a row
            starved.place = mine ? place : "";
            const StepResult given_up = starved.run(window);
            CHECK(given_up.update == StepResult::Update::given_up);
            CHECK(given_up.rows == 0);
            CHECK(starved.reducer->given_up() == (who == Who::all ? ranks->world_size() : 1));
            CHECK(starved.stepper.shortage().phase == (mine ? phase_of(place) : MemoryPhase::none));
            CHECK(starved.stepper.progress().step == before.step);
            CHECK(starved.stepper.progress().samples == before.samples);
            CHECK(no_gradients(*starved.model));
            CHECK(distance(*starved.model, *undisturbed.model) == 0);
          }
          starved.place.clear();
          CHECK(starved.run(window).update == StepResult::Update::applied);
          CHECK(undisturbed.run(undisturbed.loader.next_window()).update == StepResult::Update::applied);
          REQUIRE(distance(*starved.model, *undisturbed.model) == 0);
        }
    CHECK(undisturbed.stepper.progress().step > 40);
  }
}

TEST_CASE("whichever allocation fails, a window given up leaves no memory behind") {
  const auto ranks = make_communicator();
  install_cpu_memory();
  const auto meter = make_memory_meter(c10::kCPU);
  ShortLoop loop(*ranks, ReducerKind::overlapping);
  const auto branching = [&](const Batch& batch) -> Loss {  // so that backward has several gradients on its way at once
    const torch::Tensor output = loop.model->forward(batch.input());
    const torch::Tensor a = torch::tanh(output);
    const torch::Tensor b = torch::sigmoid(output);
    return (a.pow(2) + b + a * b + (b * a * output.pow(3)) - batch.target()).pow(2).mean();
  };
  const Window window = loop.loader.next_window();
  loop.stepper.run(window, branching);  // makes the optimizer's state
  const std::int64_t live = meter->read().live;
  StepResult result;
  std::int64_t failures = 0;
  do {
    std::int64_t left = ++failures;
    refuse_cpu_memory([&](std::size_t) { return --left == 0; });
    result = loop.stepper.run(window, branching);
    refuse_cpu_memory({});
    CAPTURE(failures);
    REQUIRE(meter->read().live == live);
  } while (result.update == StepResult::Update::given_up);
  CHECK(failures > 60);
}

TEST_CASE("half the micro-batch on the second try gives what it gives on the first") {
  const auto ranks = make_communicator();
  ShortLoop starved(*ranks, ReducerKind::overlapping);
  ShortLoop small(*ranks, ReducerKind::overlapping);
  for (int step = 0; step < 4; ++step) {
    const Window window = starved.loader.next_window();
    starved.place = is_one_of(Who::last, *ranks) ? "2.weight" : "";
    starved.at_micro = 1;
    CHECK(starved.run(window).update == StepResult::Update::given_up);
    starved.place.clear();
    starved.run(window.recut(window.micro() / 2));
    const Window same = small.loader.next_window();
    small.run(same.recut(same.micro() / 2));
  }
  CHECK(distance(*starved.model, *small.model) == 0);
}

TEST_CASE("a loop that does not ask for reports is told on all ranks, and may still try again") {
  const auto ranks = make_communicator();
  ShortLoop loop(*ranks, ReducerKind::overlapping, OnShortage::raise);
  const Window window = loop.loader.next_window();
  loop.place = is_one_of(Who::last, *ranks) ? "forward" : "";
  try {
    loop.run(window);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.on_all_ranks());
    CHECK_THAT(error.what(), Catch::Contains(text("rank ", ranks->world_size() - 1, " in forward: refused by the test")) &&
                                 Catch::Contains("step 0"));
  }
  loop.place.clear();
  CHECK(loop.run(window).update == StepResult::Update::applied);
}

TEST_CASE("running statistics of a window given up are put back on all ranks") {
  const auto ranks = make_communicator();
  ShortLoop loop(*ranks, ReducerKind::overlapping);
  std::vector<NamedTensor> buffers{{"calls", torch::zeros({1})}};
  loop.stepper.buffers = [&] { return buffers; };
  const auto counting = [&](const Batch& batch) -> Loss {
    buffers[0].tensor.add_(1);
    if (!loop.place.empty() && batch.micro_index() == 1) run_out();
    return toy_loss(loop.model, batch);
  };
  const Window window = loop.loader.next_window();
  loop.place = is_one_of(Who::first, *ranks) ? "own" : "";
  CHECK(loop.stepper.run(window, counting).update == StepResult::Update::given_up);
  CHECK(buffers[0].tensor.item<double>() == 0);
  loop.place.clear();
  CHECK(loop.stepper.run(window, counting).update == StepResult::Update::applied);
  CHECK(buffers[0].tensor.item<double>() == 2);
}

TEST_CASE("a parameter that is unfrozen before a window given up joins in the window that is whole") {
  const auto ranks = make_communicator();
  torch::nn::Sequential models[2] = {toy_model(), toy_model()};
  for (int starved = 0; starved < 2; ++starved) {
    torch::nn::Sequential& model = models[starved];
    model[0]->as<torch::nn::Linear>()->weight.requires_grad_(false);
    const auto parameters = named_tensors(model->named_parameters());
    GradReducer reducer(parameters, *ranks);
    const auto optimizer = make_optimizer(parameters, {.name = OptimizerKind::adamw});
    const LrSchedule schedule{plan_schedule({}, {.steps = 10, .steps_per_epoch = 10}), 0.01};
    Stepper stepper(reducer, *optimizer, schedule);
    stepper.set_on_shortage(OnShortage::report);
    const std::vector<Batch> batches{ToyDataset(8).rows({ranks->rank(), 5})};
    bool fails = false;
    const auto loss = [&](const Batch& batch) -> Loss {
      if (fails && ranks->rank() == 0) run_out();
      return toy_loss(model, batch);
    };
    stepper.run(batches, loss);
    model[0]->as<torch::nn::Linear>()->weight.requires_grad_(true);
    fails = starved == 1;
    if (fails) CHECK(stepper.run(batches, loss).update == StepResult::Update::given_up);
    fails = false;
    for (int step = 0; step < 3; ++step) CHECK(stepper.run(batches, loss).update == StepResult::Update::applied);
  }
  CHECK(distance(*models[0], *models[1]) == 0);
}

TEST_CASE("an optimizer that runs out of memory while it updates ends the job with a sentence that says so") {
  const auto ranks = make_communicator();
  class Hungry final : public Optimizer {
   public:
    void prepare() override {}
    double step(const UpdateContext&) override { run_out(); }
    void zero_grad() override {}
    std::vector<NamedTensor> state() override { return {}; }
    void load_state(std::span<const NamedTensor>) override {}
    std::int64_t updates() const noexcept override { return 0; }
  } hungry;
  torch::nn::Sequential model = toy_model();
  GradReducer reducer(model->named_parameters(), *ranks);
  const LrSchedule schedule{plan_schedule({}, {.steps = 10, .steps_per_epoch = 10}), 0.01};
  Stepper stepper(reducer, hungry, schedule);
  const std::vector<Batch> batches{ToyDataset(8).rows({1, 2})};
  CHECK_THROWS_WITH(stepper.run(batches, [&](const Batch& batch) { return toy_loss(model, batch); }),
                    Catch::Contains("while the optimizer updated") && Catch::Contains("refused by the test"));
}

}  // namespace ddpkit::testing
