#include "tensor/generator_states.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

namespace ddpkit {
namespace {

at::Tensor state_of(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

}  // namespace

GeneratorStates::GeneratorStates(c10::Device device) {
  std::vector<at::Generator> generators{at::detail::getDefaultCPUGenerator()};
  if (!device.is_cpu()) generators.push_back(at::globalContext().defaultGenerator(device));
  for (const at::Generator& generator : generators) states_.emplace_back(generator, state_of(generator));
}

GeneratorStates GeneratorStates::now() const {
  GeneratorStates states;
  for (const auto& [generator, state] : states_) states.states_.emplace_back(generator, state_of(generator));
  return states;
}

void GeneratorStates::restore() const {
  for (auto [generator, state] : states_) {
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
  }
}

}  // namespace ddpkit
