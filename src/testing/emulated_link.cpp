#include "ddpkit/testing/emulated_link.hpp"

#include <algorithm>
#include <utility>

#include "ddpkit/base/text.hpp"

namespace ddpkit::testing {

std::chrono::nanoseconds LinkSpeed::cost(std::size_t bytes) const {
  const std::chrono::duration<double> carrying(static_cast<double>(bytes) / bytes_per_second);
  return latency + std::chrono::duration_cast<std::chrono::nanoseconds>(carrying);
}

// An operation that is done below at some time and has crossed the link at `arrival`.
class EmulatedLink::Travelling final : public Work::State {
 public:
  Travelling(Work below, LinkClock::Time arrival, LinkClock clock)
      : below_(std::move(below)), arrival_(arrival), clock_(std::move(clock)) {}

  void wait() override {
    below_.wait();
    clock_.sleep_until(arrival_);
  }
  void synchronize() override {
    below_.synchronize();
    clock_.sleep_until(arrival_);
  }
  bool done() override { return below_.done() && clock_.now() >= arrival_; }

 private:
  Work below_;
  LinkClock::Time arrival_;
  LinkClock clock_;
};

EmulatedLink::EmulatedLink(Communicator& inner, const LinkSpeed& speed, LinkClock clock)
    : Communicator(inner.topology()), inner_(inner), clock_(std::move(clock)) {
  set_speed(speed);
}

void EmulatedLink::set_speed(const LinkSpeed& speed) {
  if (!(speed.bytes_per_second > 0) || speed.latency.count() < 0)
    throw UsageError(text("EmulatedLink: ", speed.bytes_per_second, " bytes/s with a latency of ", speed.latency.count(),
                          " ns; expected a rate above 0 and a latency of 0 or more"));
  speed_ = speed;
}

LinkClock::Time EmulatedLink::carry(std::size_t bytes) {
  arrived_ = std::max(clock_.now(), arrived_) + speed_.cost(bytes);
  return arrived_;
}

Work EmulatedLink::do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) {
  const auto arrival = carry(data.bytes());
  return Work(std::make_shared<Travelling>(inner_.all_reduce(std::move(data), op, tag), arrival, clock_));
}

Work EmulatedLink::do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) {
  const auto arrival = carry(in.bytes());
  return Work(std::make_shared<Travelling>(inner_.reduce_scatter(std::move(in), std::move(out), op, tag), arrival, clock_));
}

Work EmulatedLink::do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) {
  const auto arrival = carry(out.bytes());
  return Work(std::make_shared<Travelling>(inner_.all_gather(std::move(in), std::move(out), tag), arrival, clock_));
}

Work EmulatedLink::do_broadcast(Buffer data, int root, std::string_view tag) {
  const auto arrival = carry(data.bytes());
  return Work(std::make_shared<Travelling>(inner_.broadcast(std::move(data), root, tag), arrival, clock_));
}

void EmulatedLink::do_barrier() {
  const auto arrival = carry(0);
  inner_.barrier();
  clock_.sleep_until(arrival);
}

}  // namespace ddpkit::testing
