#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>

#include "ddpkit/comm/communicator.hpp"

namespace ddpkit::testing {

/// What an operation costs on a link: latency + bytes / bandwidth.
struct LinkSpeed {
  std::chrono::nanoseconds latency{0};
  double bytes_per_second = 1e9;  ///< above 0

  std::chrono::nanoseconds cost(std::size_t bytes) const;
};

/// Where the link's time comes from. Tests put in their own.
struct LinkClock {
  using Time = std::chrono::steady_clock::time_point;
  std::function<Time()> now = std::chrono::steady_clock::now;
  std::function<void(Time)> sleep_until = [](Time time) { std::this_thread::sleep_until(time); };
};

/// Passes everything on to another communicator, which must outlive it, and lets it take the time that a link would.
///
/// The link carries one operation after another, in the order of issue, while the caller computes: operation i arrives at
/// max(issued_i, arrived_{i-1}) + latency + bytes / bandwidth, bytes being those of the larger buffer. `wait` returns when the
/// operation is done below and has arrived. It sleeps until then, which uses no core, and until a point in time, so that
/// waking late does not add up. What the operation costs below is hidden as long as the link takes longer.
///
/// Each rank has a link of its own. A barrier takes the latency. Memory, `split` and what comes of it know nothing of the link.
class EmulatedLink final : public Communicator {
 public:
  EmulatedLink(Communicator& inner, const LinkSpeed& speed, LinkClock clock = {});

  /// For operations that are issued from now on.
  void set_speed(const LinkSpeed& speed);

  std::string_view backend() const noexcept override { return "emulated link"; }

 private:
  class Travelling;

  Memory do_allocate(std::size_t bytes) override { return inner_.allocate(bytes); }
  Work do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) override;
  Work do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) override;
  Work do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) override;
  Work do_broadcast(Buffer data, int root, std::string_view tag) override;
  void do_barrier() override;
  std::unique_ptr<Communicator> do_split(int color, int key) override { return inner_.split(color, key); }
  void do_abort(const Error& reason) noexcept override { inner_.abort(reason); }

  LinkClock::Time carry(std::size_t bytes);

  Communicator& inner_;
  LinkSpeed speed_;
  LinkClock clock_;
  LinkClock::Time arrived_{};  // the last operation
};

}  // namespace ddpkit::testing
