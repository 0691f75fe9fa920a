#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

// Activation checkpointing (Chen et al. 2016, arXiv:1604.06174): memory for time. A user marks segments of the model; whether
// they are computed again is decided by the run (`memory.recompute`).

namespace ddpkit {

/// A part of a model. Called again in backward, so what it refers to must live until then.
using Segment = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

/// `segment(inputs)`. While a RecomputeScope is on, what autograd would keep of the inside is dropped and computed again from
/// the inputs once backward gets there: the gradients are equal to the bit. Segments may be nested and may draw random numbers
/// from LibTorch's own generators (dropout): the second time they draw the same. Autocast is as it was the first time.
///
/// The segment must do the same both times. Two traps: a layer that counts its forward passes counts two, as batch norm does,
/// whose running statistics take two steps towards the batch (ask recomputing()); and inputs must not be changed in place
/// afterwards. Throws Error in backward when the second time is not like the first. Running out of memory the second time is
/// c10::OutOfMemoryError, from backward.
at::Tensor recomputed(Segment segment, std::vector<at::Tensor> inputs);

/// The same for one input: `x = recomputed([this](const at::Tensor& x) { return block->forward(x); }, x);`
at::Tensor recomputed(std::function<at::Tensor(const at::Tensor&)> segment, const at::Tensor& input);

/// Whether this thread is computing a segment for the second time.
bool recomputing() noexcept;

enum class Recompute { off, on };

/// While it lives, recomputed() on this thread saves memory or does not. The first one that does replaces LibTorch's autograd
/// engine, as far as the process has not replaced it already, by one that differs in nothing but what recomputed() needs.
class RecomputeScope {
 public:
  explicit RecomputeScope(Recompute recompute);
  ~RecomputeScope();
  RecomputeScope(const RecomputeScope&) = delete;
  RecomputeScope& operator=(const RecomputeScope&) = delete;

 private:
  Recompute before_;
};

}  // namespace ddpkit
