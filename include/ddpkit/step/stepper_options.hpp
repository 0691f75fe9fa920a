#pragma once

#include <array>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// What happens when a loss or a gradient is not finite on any rank. All ranks do the same.
enum class NonFinite {
  stop,  ///< the run ends with status 80 before any update
  skip,  ///< the update is left out, the step counts
};

constexpr auto enum_names(NonFinite) {
  return std::to_array<std::pair<NonFinite, std::string_view>>({{NonFinite::stop, "stop"}, {NonFinite::skip, "skip"}});
}

/// How forward and backward of a window reach a GPU.
enum class CudaGraph {
  off,  ///< kernel by kernel
  on,   ///< as one recorded graph, from the fourth window on
};

constexpr auto enum_names(CudaGraph) {
  return std::to_array<std::pair<CudaGraph, std::string_view>>({{CudaGraph::off, "off"}, {CudaGraph::on, "on"}});
}

/// Section `step`.
struct StepperOptions {
  double clip_norm = 0;  ///< largest global gradient norm; 0: no clipping
  NonFinite non_finite = NonFinite::stop;
  CudaGraph cuda_graph = CudaGraph::off;
};

template <class Visitor>
void visit_fields(Visitor& visit, StepperOptions& options) {
  visit("clip_norm", options.clip_norm, "gradients are scaled down to this global norm, once, after reduction; 0: never",
        at_least(0));
  visit("non_finite", options.non_finite,
        "a loss or gradient that is not finite on any rank: stop with status 80, or skip the update");
  visit("cuda_graph", options.cuda_graph,
        "record forward and backward once and repeat them as one CUDA graph: for small models, of fixed shapes, without "
        "accumulation, whose loss function does nothing on the host");
}

}  // namespace ddpkit
