#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ddpkit/optim/update_context.hpp"
#include "ddpkit/tensor/named_tensor.hpp"

namespace ddpkit {

/// Turns gradients into new parameters. Reads `grad()` of its parameters; one whose gradient is undefined is left alone,
/// its state and its step count too. Not thread-safe. Where ranks share the work (ShardedOptimizer) everything but prepare,
/// zero_grad and updates is collective; elsewhere nothing is.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Allocates all state that the next step needs, for parameters that require a gradient or have one, before there are
  /// gradients if need be: the Stepper calls it at the start of each window, while that can still be given up. Call it again at
  /// will: what exists stays. When memory runs out (c10::OutOfMemoryError) nothing has changed.
  virtual void prepare() = 0;

  /// One update, unless the gradients are not finite: then nothing has changed. Returns the global norm of the scaled gradients
  /// before clipping, which tells which of the two it was. Begins with prepare(), and allocates nothing once it has begun to
  /// write; after a prepare() it allocates nothing at all, as long as gradients lie in memory as their parameters do, which
  /// reducers see to. What the gradients hold afterwards is not specified. Throws UsageError that names the parameter when a
  /// gradient is sparse.
  virtual double step(const UpdateContext& context) = 0;

  /// Makes all gradients undefined.
  virtual void zero_grad() = 0;

  /// The program has written to parameters since the last step, the same on every rank: what they hold now is right. Not
  /// collective.
  virtual void accept_parameters() {}

  /// The state under names that do not depend on the order of registration: "fc1.weight.exp_avg". Shares the tensors with the
  /// optimizer: copy or write them before the next step. Begins with prepare(), so the names are the same before the first
  /// step and after it.
  virtual std::vector<NamedTensor> state() = 0;

  /// Copies what `state` returned earlier into this optimizer, by name. Throws DataError that lists every missing and
  /// unexpected name and every wrong shape or type; then nothing has changed.
  virtual void load_state(std::span<const NamedTensor> state) = 0;

  /// Number of calls of step(), those before load_state included.
  virtual std::int64_t updates() const noexcept = 0;
};

}  // namespace ddpkit
