#include "cuda/cuda_graph.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

#include "ddpkit/base/error.hpp"

namespace ddpkit::cuda {
namespace {

class CudaGraph final : public DeviceGraph {
 public:
  void record(const std::function<void()>& body) override {
    if (c10::cuda::getCurrentCUDAStream() == c10::cuda::getDefaultCUDAStream())
      throw UsageError(
          "step.cuda_graph: CUDA's default stream cannot be recorded; call ddpkit::use_own_stream(device) before "
          "the model and the reducer are made");
    graph_.capture_begin();
    try {
      body();
    } catch (...) {
      end_in_vain();
      throw;
    }
    graph_.capture_end();
  }

  void replay() override { graph_.replay(); }

 private:
  void end_in_vain() noexcept {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {  // the body's own error says more
    }
  }

  at::cuda::CUDAGraph graph_;
};

}  // namespace

std::unique_ptr<DeviceGraph> make_cuda_graph() {
  return std::make_unique<CudaGraph>();
}

}  // namespace ddpkit::cuda
