#include "ddpkit/tensor/seed.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

namespace ddpkit {
namespace {

void seed(at::Generator generator, std::uint64_t key) {
  const std::scoped_lock lock(generator.mutex());
  generator.set_current_seed(key);
}

}  // namespace

void seed_generators(std::uint64_t key, c10::Device device) {
  seed(at::detail::getDefaultCPUGenerator(), key);
  if (!device.is_cpu()) seed(at::globalContext().defaultGenerator(device), key);
}

}  // namespace ddpkit
