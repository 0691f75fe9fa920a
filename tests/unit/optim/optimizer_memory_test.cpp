#include <c10/core/CPUAllocator.h>
#include <torch/torch.h>

#include "ddpkit/optim/make_optimizer.hpp"
#include "support/catch.hpp"
#include "support/heap_count.hpp"
#include "unit/optim/toy_parameters.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

/// While it lives, counts what LibTorch allocates on the CPU and refuses once `limit` allocations were made.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(std::size_t limit = static_cast<std::size_t>(-1)) : limit_(limit) {
    c10::SetCPUAllocator(this, 1);
  }
  ~CountingAllocator() override { c10::SetCPUAllocator(base_, 1); }

  c10::DataPtr allocate(std::size_t bytes) override {
    if (count_ == limit_) TORCH_CHECK_WITH(OutOfMemoryError, false, "refused by the test");
    ++count_;
    return base_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return base_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { base_->copy_data(to, from, bytes); }

  std::size_t count() const { return count_; }

 private:
  c10::Allocator* base_ = c10::GetCPUAllocator();
  std::size_t limit_;
  std::size_t count_ = 0;
};

OptimizerOptions heavy(OptimizerKind kind) {
  OptimizerOptions options{.name = kind, .weight_decay = 0.01};
  if (kind == OptimizerKind::sgd) options.momentum = 0.9;
  return options;
}

}  // namespace

TEST_CASE("a step allocates nothing once prepared") {
  const auto kind = GENERATE(OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw);
  const auto type = GENERATE(at::kFloat, at::kDouble, at::kBFloat16);
  INFO(name_of(kind) << " " << at::toString(type));
  const auto parameters = toy_parameters(type);
  const auto optimizer = make_optimizer(parameters, heavy(kind));
  optimizer->prepare();
  for (std::int64_t step = 0; step < 3; ++step) {
    set_toy_gradients(parameters, step);
    const CountingAllocator counter;
    optimizer->step({.lr = 0.01, .grad_scale = 0.5});
    CHECK(counter.count() == 0);
  }
}

TEST_CASE("a step like the one before takes nothing from the heap") {
  const auto kind = GENERATE(OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw);
  auto parameters = toy_parameters();
  for (auto& named : toy_parameters(at::kBFloat16)) parameters.push_back({"narrow." + named.name, named.tensor});
  const auto optimizer = make_optimizer(parameters, heavy(kind));
  std::size_t taken = 0;
  for (std::int64_t step = 0; step < 4; ++step) {
    set_toy_gradients(parameters, step);
    const std::size_t before = heap_count();
    optimizer->step({.lr = 0.01, .grad_scale = 0.5, .clip_norm = 1});
    taken = heap_count() - before;
  }
  CHECK(taken == 0);
}

TEST_CASE("running out of memory before a step leaves parameters and state as they were") {
  const auto kind = GENERATE(OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw);
  const auto parameters = toy_parameters(), before = copies_of(parameters);
  set_toy_gradients(parameters, 0);
  for (std::size_t limit = 0;; ++limit) {
    const auto optimizer = make_optimizer(parameters, heavy(kind));
    bool finished = false;
    {
      const CountingAllocator allocator(limit);
      try {
        optimizer->step({.lr = 0.01, .grad_scale = 0.5});
        finished = true;
      } catch (const c10::OutOfMemoryError&) {
      }
    }
    if (finished) break;
    REQUIRE(limit < 100);
    CHECK(same_bits(parameters, before));
    CHECK(optimizer->updates() == 0);
    for (const auto& named : optimizer->state()) CHECK(named.tensor.abs().max().item<double>() == 0);
  }
  CHECK_FALSE(same_bits(parameters, before));
}
