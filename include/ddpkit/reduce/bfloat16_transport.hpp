#pragma once

#include <memory>
#include <vector>

#include "ddpkit/reduce/bucket_plan.hpp"
#include "ddpkit/reduce/bucket_transport.hpp"

namespace ddpkit {

/// All-reduce of float32 and float64 buckets in bfloat16: half or a quarter of the bytes for two more passes over this rank's
/// memory. Each rank's gradients are rounded once before they leave (relative error 2^-9), and their sum once or, by NCCL, at
/// every addition; what arrives is widened again, so optimizers notice nothing. Sums cannot overflow before float32 does.
/// Buckets of 16-bit types travel as they are.
class Bfloat16Transport final : public BucketTransport {
 public:
  /// Collective: allocates what travels. `comm` must outlive the transport.
  Bfloat16Transport(Communicator& comm, ReduceOp op, const BucketPlan& plan);
  ~Bfloat16Transport() override;

  Work start(const OutgoingBucket& bucket) override;
  double pending_scale() const noexcept override { return plain_.pending_scale(); }
  std::size_t bytes_sent(const Bucket& bucket) const noexcept override;

 private:
  class Trip;

  Communicator& comm_;
  ReduceOp op_;
  AllReduceTransport plain_;
  std::vector<std::shared_ptr<Trip>> trips_;  // by bucket; null for 16-bit types
};

}  // namespace ddpkit
