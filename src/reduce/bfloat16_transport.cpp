#include "ddpkit/reduce/bfloat16_transport.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <utility>

#include "ddpkit/tensor/as_buffer.hpp"

namespace ddpkit {
namespace {

bool is_wide(const Bucket& bucket) {
  return size_of(bucket.dtype) > size_of(DType::bfloat16);
}

std::size_t narrow_bytes(const Bucket& bucket) {
  return static_cast<std::size_t>(bucket.elements) * size_of(DType::bfloat16);
}

}  // namespace

/// A bucket's journey, the same object in every window.
class Bfloat16Transport::Trip final : public Work::State {
 public:
  explicit Trip(Memory memory, std::int64_t elements)
      : narrow_(tensor_in(memory, 0, elements, DType::bfloat16)), memory_(std::move(memory)) {}

  /// Rounds the bucket into what is sent.
  Buffer pack(const Buffer& wide) {
    const at::NoGradGuard no_graph;
    if (!wide_.defined() || wide_.const_data_ptr() != wide.data)
      wide_ = tensor_in(wide.memory, wide.offset, static_cast<std::int64_t>(wide.count), wide.dtype);
    narrow_.copy_(wide_);
    Buffer packed = Buffer::in(memory_, 0, wide.count, DType::bfloat16);
    packed.device = wide.device;  // with its stream
    return packed;
  }

  void follow(Work sent) {
    sent_ = std::move(sent);
    unpacked_ = false;
  }

  void wait() override {
    sent_.wait();
    unpack();
  }
  void synchronize() override {
    sent_.synchronize();
    unpack();
  }
  bool done() override { return sent_.done(); }

 private:
  void unpack() {
    if (std::exchange(unpacked_, true)) return;
    const at::NoGradGuard no_graph;
    wide_.copy_(narrow_);
  }

  at::Tensor narrow_;
  at::Tensor wide_;
  Memory memory_;
  Work sent_;
  bool unpacked_ = true;
};

Bfloat16Transport::Bfloat16Transport(Communicator& comm, ReduceOp op, const BucketPlan& plan)
    : comm_(comm), op_(op), plain_(comm, op) {
  for (const Bucket& bucket : plan.buckets)
    trips_.push_back(is_wide(bucket) ? std::make_shared<Trip>(comm.allocate(narrow_bytes(bucket)), bucket.elements) : nullptr);
}

Bfloat16Transport::~Bfloat16Transport() = default;

Work Bfloat16Transport::start(const OutgoingBucket& bucket) {
  const std::shared_ptr<Trip>& trip = trips_[bucket.index];
  if (!trip) return plain_.start(bucket);
  trip->follow(comm_.all_reduce(trip->pack(bucket.data), op_, bucket.tag));
  return Work(trip);
}

std::size_t Bfloat16Transport::bytes_sent(const Bucket& bucket) const noexcept {
  return is_wide(bucket) ? narrow_bytes(bucket) : bucket.bytes();
}

}  // namespace ddpkit
