// Training that runs out of memory, on any rank, anywhere.
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "ddpkit/base/text.hpp"
#include "ddpkit/tensor/cpu_memory.hpp"
#include "ddpkit/tensor/memory_meter.hpp"
#include "support/trainer_world.hpp"

namespace ddpkit::testing {
namespace {

/// The allocator that can refuse, while it lives without limit or refusals.
class CountedMemory {
 public:
  CountedMemory() { install_cpu_memory(); }
  ~CountedMemory() {
    limit_cpu_memory({0});
    refuse_cpu_memory({});
  }
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;
};

[[noreturn]] void refuse() {
  TORCH_CHECK_WITH(OutOfMemoryError, false, "refused by the test");
}

/// Windows of `accumulate` micro-batches of `micro` on each rank.
RunConfig ladder_config(const Communicator& ranks, std::int64_t micro, std::int64_t accumulate, std::int64_t steps = 6) {
  RunConfig config = toy_config();
  config.run.steps = steps;
  config.batch.global = micro * accumulate * ranks.world_size();
  config.batch.micro = micro;
  config.data.tail = Tail::drop;
  config.optimizer.name = OptimizerKind::adamw;
  return config;
}

constexpr std::int64_t kLadderSamples = 150;

TrainSummary train_on(ToyTrainer& toy, std::int64_t samples = kLadderSamples) {
  const ToyDataset data(samples);
  return toy.trainer.train(data);
}

/// What the error says with which the training ends on all ranks, for want of memory.
std::string what_ends(ToyTrainer& toy) {
  try {
    train_on(toy);
  } catch (const Error& error) {
    CHECK(error.on_all_ranks());
    CHECK(error.status() == ExitStatus::memory);
    return error.what();
  }
  FAIL("nothing was thrown");
  return {};
}

torch::nn::Sequential trained_with(Communicator& ranks, const RunConfig& config) {
  ToyTrainer toy(ranks, config);
  train_on(toy);
  return toy.model;
}

enum class Which { first, last, all };

bool is_in(Which which, const Communicator& ranks) {
  return which == Which::all || ranks.rank() == (which == Which::first ? 0 : ranks.world_size() - 1);
}

std::vector<nlohmann::json> lines_of(const std::filesystem::path& path) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// Refuses one allocation of this process: the n-th from when it was armed.
class OneRefusal {
 public:
  OneRefusal() {
    refuse_cpu_memory([this](std::size_t) { return left_ > 0 && --left_ == 0; });
  }
  ~OneRefusal() { refuse_cpu_memory({}); }
  OneRefusal(const OneRefusal&) = delete;
  OneRefusal& operator=(const OneRefusal&) = delete;

  void arm(std::int64_t nth) { left_ = nth; }
  std::int64_t left() const { return left_; }

 private:
  std::atomic<std::int64_t> left_ = 0;
};

}  // namespace

TEST_CASE("micro-batches that do not fit are halved, and the run is the one with smaller micro-batches from the start") {
  const auto ranks = make_communicator();
  for (const Overlap overlap : {Overlap::on, Overlap::off})
    for (const std::int64_t accumulate : {1, 2})
      for (const Which which : {Which::first, Which::last, Which::all}) {
        CAPTURE(name_of(overlap), accumulate, which);
        RunConfig config = ladder_config(*ranks, 8, accumulate);
        config.reducer.overlap = overlap;
        ToyTrainer toy(*ranks, config);
        toy.loss = [&](const Batch& batch) {
          if (is_in(which, *ranks) && batch.rows() > 2) refuse();
          return toy_loss(toy.model, batch);
        };
        train_on(toy);
        config.batch.micro = 2;
        CHECK(distance(*trained_with(*ranks, config), *toy.model) < 1e-10);
        CHECK(equal_on_all_ranks(*ranks, toy.trainer.model().parameters()));
      }
}

TEST_CASE("memory that runs out later in the run and inside backward changes nothing but the cut from there on") {
  const auto ranks = make_communicator();
  RunConfig config = ladder_config(*ranks, 6, 2);
  config.data.workers = 2;  // which have gathered ahead what is cut otherwise now
  ToyTrainer toy(*ranks, config);
  std::int64_t step = 0;
  toy.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress& progress, const StepResult&) {
    step = progress.step;
    return Flow::go_on;
  }));
  std::int64_t smallest = 99;
  toy.loss = [&](const Batch& batch) {
    smallest = std::min(smallest, batch.rows());
    const Loss loss = toy_loss(toy.model, batch);
    if (step == 3 && batch.rows() == 6 && is_in(Which::last, *ranks))
      loss.mean.register_hook([](const torch::Tensor& gradient) {
        refuse();
        return gradient;
      });
    return loss;
  };
  train_on(toy);
  CHECK(smallest == 3);
  CHECK(distance(*trained_with(*ranks, config), *toy.model) < 1e-10);
}

TEST_CASE("metrics and the record of steps are those of a run that always had enough memory, and rungs are written down") {
  const auto ranks = make_communicator();
  const SharedFolder starved_folder(*ranks);
  const SharedFolder plain_folder(*ranks);
  const auto run = [&](const SharedFolder& folder, bool starved) {
    RunConfig config = ladder_config(*ranks, 6, 2);
    config.metrics.every = 2;
    ToyTrainer toy(*ranks, config, {.run_folder = folder.run()});
    toy.trainer.add_metric("first id", [&](const Batch& batch, const Loss&) {
      return Ratio{static_cast<double>(batch.ids().front() * batch.rows()), static_cast<double>(batch.rows())};
    });
    toy.trainer.add_metric("rows seen", [](const Batch& batch, const Loss&) {
      return Ratio{static_cast<double>(batch.rows()), 1.0 / 64};
    });
    std::int64_t calls = 0;
    toy.loss = [&](const Batch& batch) {
      if (starved && ++calls % 5 == 0 && is_in(Which::last, *ranks)) refuse();  // a second micro-batch, now and then
      return toy_loss(toy.model, batch);
    };
    train_on(toy);
  };
  run(starved_folder, true);
  run(plain_folder, false);
  if (ranks->rank() != 0) return;
  std::vector<nlohmann::json> expected;
  std::vector<nlohmann::json> got;
  for (const auto& line : lines_of(plain_folder.run().metrics()))
    if (line["kind"] == "train") expected.push_back(line);
  std::size_t events = 0;
  for (const auto& line : lines_of(starved_folder.run().metrics())) {
    if (line["kind"] == "train") got.push_back(line);
    if (line["kind"] == "event") events += line["text"].get<std::string>().find("out of memory") != std::string::npos;
  }
  REQUIRE(got.size() == expected.size());
  REQUIRE(got.size() == 3);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i]["values"]["loss"].get<double>() == Approx(expected[i]["values"]["loss"].get<double>()).epsilon(1e-9));
    CHECK(got[i]["values"]["first id"] == expected[i]["values"]["first id"]);
    CHECK(got[i]["values"]["rows seen"] == expected[i]["values"]["rows seen"]);
    CHECK(got[i]["values"]["skipped_steps"] == 0);
    CHECK(got[i]["samples"] == expected[i]["samples"]);
  }
  const auto rungs = lines_of(starved_folder.run().ladder());
  CHECK(rungs.size() == events);
  REQUIRE_FALSE(rungs.empty());
  CHECK(rungs.front()["rung"] == "release_cache");
  CHECK(rungs.front()["ranks"].size() == static_cast<std::size_t>(ranks->world_size()));
  CHECK(rungs.front()["ranks"].back()["phase"] == "forward");
  CHECK_FALSE(std::filesystem::exists(plain_folder.run().ladder()));
}

TEST_CASE("running statistics of batch norm are those of the smaller micro-batches, as if they had been there from the start") {
  const auto ranks = make_communicator();
  const auto run = [&](std::int64_t micro, std::int64_t fits) {
    torch::manual_seed(5);
    torch::nn::Sequential model(torch::nn::Linear(kToyInputs, 8), torch::nn::BatchNorm1d(8), torch::nn::Dropout(0.3),
                                torch::nn::Linear(8, kToyOutputs));
    model->to(torch::kDouble);
    ToyTrainer toy(*ranks, ladder_config(*ranks, micro, 8 / micro), {}, model);
    toy.loss = [&](const Batch& batch) {
      const Loss loss = toy_loss(toy.model, batch);
      if (batch.rows() > fits && is_in(Which::last, *ranks)) refuse();  // after forward has moved the statistics
      return loss;
    };
    train_on(toy);
    return model;
  };
  const auto halved = run(8, 4);
  const auto small = run(4, 4);
  CHECK(distance(*small, *halved) < 1e-10);
  for (const auto& buffer : halved->named_buffers())
    CHECK(torch::allclose(buffer.value().to(torch::kDouble), small->named_buffers()[buffer.key()].to(torch::kDouble), 1e-10));
  CHECK(distance(*run(8, 8), *halved) > 1e-6);  // such models depend on the micro-batch itself
}

TEST_CASE("two hundred random refusals of memory on random ranks change nothing, and nobody hangs") {
  const auto ranks = make_communicator();
  const CountedMemory counted;
  constexpr std::int64_t kSteps = 200;
  const RunConfig config = ladder_config(*ranks, 6, 2, kSteps);
  const auto undisturbed = trained_with(*ranks, config);

  OneRefusal refusal;
  std::mt19937 shared_draws(7);  // the same on all ranks: who is to fail
  std::mt19937 own_draws(static_cast<unsigned>(100 + ranks->rank()));
  std::int64_t hit = 0;
  ToyTrainer toy(*ranks, config);
  bool armed = false;
  const auto arm = [&] {
    const auto victim = static_cast<int>(shared_draws() % static_cast<unsigned>(ranks->world_size()));
    armed = victim == ranks->rank() || own_draws() % 3 == 0;
    refusal.arm(armed ? 1 + own_draws() % 40 : 0);
  };
  toy.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress& progress, const StepResult&) {
    hit += armed && refusal.left() == 0 ? 1 : 0;
    if (progress.step < kSteps)
      arm();
    else
      refusal.arm(0);
    return Flow::go_on;
  }));
  train_on(toy);
  const double moved = distance(*undisturbed, *toy.model);
  ranks->all_reduce(std::span(&hit, 1), ReduceOp::sum).wait();
  CHECK(hit >= kSteps * 9 / 10);
  CHECK(moved < 1e-10);
}

TEST_CASE("below a micro-batch of one sample all ranks end with one error that says what the model needs") {
  const auto ranks = make_communicator();
  ToyTrainer toy(*ranks, ladder_config(*ranks, 6, 1));
  std::int64_t tries = 0;
  toy.loss = [&](const Batch& batch) {
    tries += batch.rows() == 1;
    if (is_in(Which::first, *ranks)) refuse();
    return toy_loss(toy.model, batch);
  };
  CHECK_THAT(what_ends(toy), Catch::Contains("rank 0 in forward") && Catch::Contains("a micro-batch of 1 sample needs more") &&
                                 Catch::Contains("memory.limit"));
  CHECK(tries >= 1);
}

TEST_CASE("a batch that grows later in the run is cut into micro-batches that have fitted") {
  const auto ranks = make_communicator();
  RunConfig config = ladder_config(*ranks, 6, 1);
  config.batch.micro.reset();
  config.batch.schedule = {{.at = {3, Extent::Unit::steps}, .global = 2 * config.batch.global, .lr = RateChange::hold}};
  const auto run = [&](std::int64_t fits) {
    ToyTrainer toy(*ranks, config);
    std::int64_t refused = 0;
    toy.loss = [&](const Batch& batch) {
      if (batch.rows() > fits) ++refused;
      if (batch.rows() > fits && is_in(Which::last, *ranks)) refuse();
      return toy_loss(toy.model, batch);
    };
    train_on(toy);
    if (fits < 6) CHECK(refused == 2);  // before and after caches were given back, and never again
    return toy.model;
  };
  const auto halved = run(3);
  config.batch.max_micro = 3;
  CHECK(distance(*run(99), *halved) < 1e-10);
}

TEST_CASE("savings that the run allows are taken before the micro-batch is halved, and never unasked") {
  const auto ranks = make_communicator();
  for (const Saving allowed : {Saving::when_full, Saving::never}) {
    RunConfig config = ladder_config(*ranks, 6, 1, 2);
    config.memory.recompute = allowed;
    ToyTrainer toy(*ranks, config);
    std::int64_t smallest = 99;
    std::int64_t refusals = 0;
    toy.loss = [&](const Batch& batch) {
      smallest = std::min(smallest, batch.rows());
      if (refusals < 2 && ++refusals > 0 && is_in(Which::last, *ranks)) refuse();  // the cache, then the saving
      return toy_loss(toy.model, batch);
    };
    train_on(toy);
    CHECK(smallest == (allowed == Saving::never ? 3 : 6));
  }
}

TEST_CASE("memory.when_full: stop ends at the first shortage, on all ranks") {
  const auto ranks = make_communicator();
  RunConfig config = ladder_config(*ranks, 6, 1);
  config.memory.when_full = WhenFull::stop;
  ToyTrainer toy(*ranks, config);
  toy.loss = [&](const Batch& batch) {
    if (is_in(Which::last, *ranks)) refuse();
    return toy_loss(toy.model, batch);
  };
  CHECK_THAT(what_ends(toy), Catch::Contains("when_full: ladder"));
}

TEST_CASE("a run under a real limit that holds half its micro-batch trains to the end") {
  const auto ranks = make_communicator();
  const CountedMemory counted;
  constexpr std::int64_t kMicro = 64;
  const auto wide = [] {
    torch::manual_seed(6);
    torch::nn::Sequential model(torch::nn::Linear(kToyInputs, 1024), torch::nn::Tanh(), torch::nn::Linear(1024, kToyOutputs));
    model->to(torch::kDouble);
    return model;
  };
  const auto config_of = [&](std::int64_t micro) { return ladder_config(*ranks, micro, kMicro / micro, 4); };
  const auto meter = make_memory_meter(c10::kCPU);
  const std::int64_t samples = 2 * kMicro * ranks->world_size();
  const auto peak_of = [&](std::int64_t micro) {
    ToyTrainer toy(*ranks, config_of(micro), {}, wide());
    meter->reset_peak();
    std::int64_t peak = 0;
    toy.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress&, const StepResult&) {
      peak = std::max(peak, meter->read().peak);
      return Flow::go_on;
    }));
    train_on(toy, samples);
    return peak;
  };
  const std::int64_t whole = peak_of(kMicro);
  const std::int64_t half = peak_of(kMicro / 2);
  REQUIRE(whole > half + (half / 10));

  std::int64_t largest_fit = 0;
  ToyTrainer toy(*ranks, config_of(kMicro), {}, wide());
  const std::int64_t limit = (whole + half) / 2;
  limit_cpu_memory({limit});
  toy.trainer.add_callback(std::make_shared<AfterStep>([&](const Progress&, const StepResult&) {
    largest_fit = std::max(largest_fit, meter->read().peak);
    return Flow::go_on;
  }));
  CHECK(train_on(toy, samples).progress.step == 4);
  limit_cpu_memory({0});
  CHECK(largest_fit <= limit);
  ToyTrainer small(*ranks, config_of(kMicro / 2), {}, wide());
  train_on(small, samples);
  CHECK(distance(*small.model, *toy.model) < 1e-10);
}

TEST_CASE("losses that are kept with their graphs are named as the leak they are") {
  const auto ranks = make_communicator();
  const CountedMemory counted;
  const auto meter = make_memory_meter(c10::kCPU);
  ToyTrainer toy(*ranks, ladder_config(*ranks, 6, 1, 400));
  std::vector<torch::Tensor> kept;
  toy.loss = [&](const Batch& batch) {
    const Loss loss = toy_loss(toy.model, batch);
    if (is_in(Which::last, *ranks)) kept.push_back(loss.mean + torch::ones({2048}, torch::kDouble));
    return loss;
  };
  limit_cpu_memory({meter->read().live + (1 << 20)});
  const std::string what = what_ends(toy);
  limit_cpu_memory({0});
  CHECK_THAT(what, Catch::Contains(text("a leak on rank ", ranks->world_size() - 1)));
}

TEST_CASE("a run that goes on begins with the micro-batch that fitted, unless it is told otherwise") {
  const auto ranks = make_communicator();
  const SharedFolder folder(*ranks);
  RunConfig config = ladder_config(*ranks, 6, 1, 3);
  std::int64_t largest = 0;
  const auto run = [&](const Places& places, std::int64_t fits) {
    ToyTrainer toy(*ranks, config, places);
    largest = 0;
    toy.loss = [&](const Batch& batch) {
      if (torch::GradMode::is_enabled()) largest = std::max(largest, batch.rows());
      if (batch.rows() > fits && is_in(Which::last, *ranks)) refuse();
      return toy_loss(toy.model, batch);
    };
    train_on(toy);
  };
  run({.run_folder = folder.run()}, 3);
  CHECK(largest == 6);
  config.run.steps = 4;
  run({.resume_from = folder.checkpoints()}, 3);
  CHECK(largest == 3);
  config.batch.micro.reset();
  config.batch.max_micro = 6;
  run({.resume_from = folder.checkpoints()}, 6);
  CHECK(largest == 6);
}

}  // namespace ddpkit::testing
