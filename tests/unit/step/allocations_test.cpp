// Counts every call of operator new in this program, LibTorch's among them, and takes off those of the same forward, backward
// and update without ddpkit around them. Memory that C code takes with malloc is not counted.
#include <torch/nn.h>
#include <torch/torch.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "ddpkit/data/in_memory_dataset.hpp"
#include "ddpkit/data/loader.hpp"
#include "ddpkit/data/shuffle_order.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/schedule/schedule_plan.hpp"
#include "ddpkit/step/stepper.hpp"
#include "support/catch.hpp"

namespace {
std::atomic<std::int64_t> allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (bytes + unit) / unit * unit)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace {

using namespace ddpkit;

constexpr std::int64_t kRows = 8;
constexpr int kWarmUp = 20;
constexpr int kMeasured = 20;

/// One of several ranks that always bring the same.
class TwinCommunicator final : public Communicator {
 public:
  explicit TwinCommunicator(int ranks) : Communicator({.world_size = ranks, .local_size = ranks}) {}
  std::string_view backend() const noexcept override { return "twin"; }

 private:
  Memory do_allocate(std::size_t bytes) override {
    auto block = std::make_shared<Memory::Block>();
    memory_.emplace_back(allocate_aligned(bytes));
    block->data = memory_.back().get();
    block->size = bytes;
    return Memory(std::move(block));
  }
  Work do_all_reduce(Buffer data, ReduceOp op, std::string_view) override {
    if (op == ReduceOp::sum && data.dtype == DType::float32) add_twins<float>(data);
    if (op == ReduceOp::sum && data.dtype == DType::float64) add_twins<double>(data);
    return {};
  }
  Work do_reduce_scatter(ConstBuffer, Buffer, ReduceOp, std::string_view) override { return {}; }
  Work do_all_gather(ConstBuffer in, Buffer out, std::string_view) override {
    for (int rank = 0; rank < world_size(); ++rank)
      std::memmove(static_cast<std::byte*>(out.data) + static_cast<std::size_t>(rank) * in.bytes(), in.data, in.bytes());
    return {};
  }
  Work do_broadcast(Buffer, int, std::string_view) override { return {}; }
  void do_barrier() override {}
  std::unique_ptr<Communicator> do_split(int, int) override { return nullptr; }
  void do_abort(const Error&) noexcept override {}

  template <class T>
  void add_twins(const Buffer& data) const {
    for (T& element : std::span(static_cast<T*>(data.data), data.count)) element *= static_cast<T>(world_size());
  }

  std::vector<std::shared_ptr<std::byte[]>> memory_;
};

torch::nn::Sequential small_model() {
  return torch::nn::Sequential(torch::nn::Linear(6, 16), torch::nn::ReLU(), torch::nn::Linear(16, 3));
}

Loss loss_of(torch::nn::Sequential& model, const Batch& batch) {
  return torch::nn::functional::cross_entropy(model->forward(batch.input()), batch.target());
}

InMemoryDataset small_data() {
  HostArray input = make_array("input", DType::float32, {5 * kRows, 6});
  std::fill_n(input.values<float>().begin(), input.elements(), 0.5F);
  HostArray target = make_array("target", DType::int64, {5 * kRows});
  std::fill_n(target.values<std::int64_t>().begin(), target.elements(), 1);
  return InMemoryDataset({{input}, {target}});
}

Batch small_batch() {
  return Batch({{"input", torch::full({kRows, 6}, 0.5)}, {"target", torch::ones({kRows}, torch::kLong)}});
}

/// Of the cheapest step, once all steps cost the same.
template <class Step>
std::int64_t allocations_of(Step step) {
  for (int i = 0; i < kWarmUp; ++i) step();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kMeasured; ++i) {
    const std::int64_t before = allocations;
    step();
    least = std::min<std::int64_t>(least, allocations - before);
  }
  return least;
}

/// Autograd hands each gradient over anew where ranks take it away, and adds to the first where one is alone.
std::int64_t allocations_without_ddpkit(int ranks, int micro_batches) {
  torch::nn::Sequential model = small_model();
  const auto optimizer = make_optimizer(named_tensors(model->named_parameters()), {.lr = 0.1});
  const Batch batch = small_batch();
  const torch::Tensor factor = torch::ones({});
  return allocations_of([&] {
    for (int i = 0; i < micro_batches; ++i) {
      if (ranks > 1) optimizer->zero_grad();
      const Loss loss = loss_of(model, batch);
      loss.mean.backward(factor);
    }
    optimizer->step({.lr = 0.1});
    optimizer->zero_grad();
  });
}

/// `step(stepper, loss)` takes one step.
template <class Step>
std::int64_t allocations_with_ddpkit(int ranks, GradientNoise noise, Step step) {
  TwinCommunicator comm(ranks);
  torch::nn::Sequential model = small_model();
  const auto parameters = named_tensors(model->named_parameters());
  const auto optimizer = make_optimizer(parameters, {.lr = 0.1});
  GradReducer reducer(parameters, comm);
  const LrSchedule schedule(plan_schedule({}, {.steps = 1000, .steps_per_epoch = 5}), 0.1);
  Stepper stepper(reducer, *optimizer, schedule);
  stepper.set_noise(noise);
  const LossFunction loss = [&](const Batch& batch) { return loss_of(model, batch); };
  return allocations_of([&] { step(stepper, loss); });
}

}  // namespace

TEST_CASE("a steady step of own micro-batches allocates nothing that the same arithmetic alone does not") {
  at::set_num_threads(1);
  const int ranks = GENERATE(1, 2);
  const int micro_batches = GENERATE(1, 3);
  const GradientNoise noise = GENERATE(GradientNoise::ignored, GradientNoise::measured);
  CAPTURE(ranks, micro_batches, noise == GradientNoise::measured);
  const std::vector<Batch> batches(static_cast<std::size_t>(micro_batches), small_batch());
  const auto step = [&](Stepper& stepper, const LossFunction& loss) { stepper.run(batches, loss); };
  CHECK(allocations_with_ddpkit(ranks, noise, step) <= allocations_without_ddpkit(ranks, micro_batches));
}

TEST_CASE("a steady step on a loader's window allocates nothing either, whoever gathers") {
  at::set_num_threads(1);
  const std::int64_t workers = GENERATE(0, 1);
  CAPTURE(workers);
  const InMemoryDataset data = small_data();
  const ShuffleOrder order(data.size(), 3);
  Loader loader(data, order, {.sampler = {.global = kRows}, .micro = kRows, .prefetch = {4 << 10}, .workers = workers});
  const auto step = [&](Stepper& stepper, const LossFunction& loss) { stepper.run(loader.next_window(), loss); };
  CHECK(allocations_with_ddpkit(1, GradientNoise::ignored, step) <= allocations_without_ddpkit(1, 1));
}
