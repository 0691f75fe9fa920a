#pragma once

#include <cstddef>
#include <string_view>

#include "ddpkit/comm/buffer.hpp"
#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/comm/work.hpp"
#include "ddpkit/reduce/bucket_plan.hpp"

namespace ddpkit {

/// A full bucket on its way out.
struct OutgoingBucket {
  Buffer data;
  std::size_t index = 0;
  std::string_view tag;  ///< "bucket 4, fc2.weight..fc3.bias"
};

/// How a bucket travels. The one seam for other ways than a plain all-reduce, such as compression. All ranks start the same
/// buckets in the same order.
class BucketTransport {
 public:
  virtual ~BucketTransport() = default;

  /// Starts to combine the bucket over all ranks, in place.
  [[nodiscard]] virtual Work start(const OutgoingBucket& bucket) = 0;

  /// The factor that turns what `start` leaves behind into the mean over ranks.
  virtual double pending_scale() const noexcept = 0;

  /// What one rank hands to the communicator for such a bucket.
  virtual std::size_t bytes_sent(const Bucket& bucket) const noexcept { return bucket.bytes(); }
};

/// All-reduce by sum, the 1/N being left to the reader; or by mean, for 16-bit types whose sums could overflow.
class AllReduceTransport final : public BucketTransport {
 public:
  /// `comm` must outlive the transport.
  AllReduceTransport(Communicator& comm, ReduceOp op) : comm_(comm), op_(op) {}

  Work start(const OutgoingBucket& bucket) override { return comm_.all_reduce(bucket.data, op_, bucket.tag); }
  double pending_scale() const noexcept override { return op_ == ReduceOp::mean ? 1.0 : 1.0 / comm_.world_size(); }

 private:
  Communicator& comm_;
  ReduceOp op_;
};

}  // namespace ddpkit
