// Links ddpkit::cuda as a user would. Where there is a GPU, one rank reduces on it; where there is none, the error must say so.
#include <iostream>
#include <string>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/comm/nccl_factory.hpp"

namespace {

bool names_the_cause(const std::string& message) {
  return message.find("rank 0") != std::string::npos && message.find("cudaSetDevice(0) failed") != std::string::npos &&
         message.find("CUDA_VISIBLE_DEVICES") != std::string::npos;
}

int use_gpu(ddpkit::Communicator& control) {
  const auto data = ddpkit::make_data_communicator(control, {.type = ddpkit::Device::Type::cuda}, {});
  const ddpkit::Memory memory = data->allocate(4096);
  data->all_reduce(ddpkit::Buffer::in(memory, 0, 1024, ddpkit::DType::float32), ddpkit::ReduceOp::sum).synchronize();
  data->barrier();
  std::cout << data->backend() << " works\n";
  return 0;
}

}  // namespace

int main() {
  if (ddpkit::nccl_factory() == nullptr) {
    std::cerr << "ddpkit::cuda is linked, but NCCL is not registered\n";
    return 1;
  }
  const auto control = ddpkit::make_communicator({.backend = ddpkit::Backend::local});
  try {
    return use_gpu(*control);
  } catch (const ddpkit::CommError& error) {
    std::cout << error.what() << "\n";
    return names_the_cause(error.what()) ? 0 : 1;
  }
}
