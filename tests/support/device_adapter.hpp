#pragma once

#include <memory>
#include <utility>

#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::testing {

/// Lets tests written for host memory run over a backend for CUDA whose device memory is host memory: hands buffers on as if
/// they lay on `device`.
class DeviceAdapter final : public Communicator {
 public:
  DeviceAdapter(Communicator& inner, int device) : Communicator(inner.topology()), inner_(inner), device_(device) {}
  DeviceAdapter(std::unique_ptr<Communicator> inner, int device) : DeviceAdapter(*inner, device) { owned_ = std::move(inner); }

  std::string_view backend() const noexcept override { return inner_.backend(); }

 private:
  struct HostBlock final : Memory::Block {
    explicit HostBlock(Memory memory) : inner(std::move(memory)) {
      data = inner.data();
      size = inner.size();
      id = inner.id();
    }
    Memory inner;
  };

  template <class AnyBuffer>
  AnyBuffer moved(AnyBuffer buffer) const {
    buffer.device = {.type = Device::Type::cuda, .index = device_};
    if (const auto* block = dynamic_cast<const HostBlock*>(buffer.memory.block().get())) buffer.memory = Memory(block->inner);
    return buffer;
  }

  Memory do_allocate(std::size_t bytes) override { return Memory(std::make_shared<HostBlock>(inner_.allocate(bytes))); }
  Work do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) override {
    return inner_.all_reduce(moved(data), op, tag);
  }
  Work do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) override {
    return inner_.reduce_scatter(moved(in), moved(out), op, tag);
  }
  Work do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) override {
    return inner_.all_gather(moved(in), moved(out), tag);
  }
  Work do_broadcast(Buffer data, int root, std::string_view tag) override { return inner_.broadcast(moved(data), root, tag); }
  void do_barrier() override { inner_.barrier(); }
  std::unique_ptr<Communicator> do_split(int color, int key) override {
    auto child = inner_.split(color, key);
    return child ? std::make_unique<DeviceAdapter>(std::move(child), device_) : nullptr;
  }
  void do_abort(const Error& reason) noexcept override { inner_.abort(reason); }

  Communicator& inner_;
  std::unique_ptr<Communicator> owned_;
  int device_;
};

}  // namespace ddpkit::testing
