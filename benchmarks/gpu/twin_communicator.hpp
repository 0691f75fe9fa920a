#pragma once

#include <ATen/cuda/CUDAEvent.h>
#include <c10/core/Device.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "ddpkit/comm/communicator.hpp"

namespace bench {

/// Two ranks, of which the other one is imagined to hold what this one holds: sums double, means stay. So buckets fill and
/// leave as in a real job of two, and after scaling by 1/2 every bit must be as in a job of one. On a GPU the doubling runs on
/// a stream of its own, in NCCL's place, and may be repeated to stand for a slower link.
class TwinCommunicator final : public ddpkit::Communicator {
 public:
  /// `passes`: so many times the data of a collective goes through the device's memory; 0: not at all, it stays what it is.
  explicit TwinCommunicator(c10::Device device, int passes = 1);

  std::string_view backend() const noexcept override { return "twin"; }

  /// A collective of a GPU's data: when it could begin and when it had ended.
  struct Trip {
    at::cuda::CUDAEvent ready{cudaEventDefault};
    at::cuda::CUDAEvent done{cudaEventDefault};
    std::size_t bytes = 0;
  };
  /// All since the last `clear`.
  std::vector<Trip> trips;

 private:
  ddpkit::Memory do_allocate(std::size_t bytes) override;
  ddpkit::Work do_all_reduce(ddpkit::Buffer data, ddpkit::ReduceOp op, std::string_view tag) override;
  ddpkit::Work do_reduce_scatter(ddpkit::ConstBuffer in, ddpkit::Buffer out, ddpkit::ReduceOp op, std::string_view) override;
  ddpkit::Work do_all_gather(ddpkit::ConstBuffer in, ddpkit::Buffer out, std::string_view tag) override;
  ddpkit::Work do_broadcast(ddpkit::Buffer, int, std::string_view) override { return {}; }
  void do_barrier() override {}
  std::unique_ptr<ddpkit::Communicator> do_split(int color, int key) override;
  void do_abort(const ddpkit::Error& reason) noexcept override;

  c10::Device device_;
  int passes_;
  std::optional<c10::cuda::CUDAStream> stream_;
  std::uint64_t allocated_ = 0;
};

}  // namespace bench
