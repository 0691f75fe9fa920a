#pragma once

#include "harness/machine.hpp"

namespace bench {

/// LibTorch and the BLAS it computes with. Throws UsageError for a BLAS on which ratios mean nothing: where products of
/// matrices are slow, communication looks free. Also fixes one thread per rank.
Facts torch_facts();

}  // namespace bench
