#pragma once

#include <c10/core/Device.h>

namespace ddpkit {

/// Makes a stream from LibTorch's pool the calling thread's current one on a GPU; does nothing on a CPU. For runs with
/// step.cuda_graph: the default stream cannot be recorded, and since gradients arrive on the stream that was current when the
/// reducer was made, this comes before the model and the reducer.
void use_own_stream(c10::Device device);

}  // namespace ddpkit
