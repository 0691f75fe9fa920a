#include "ddpkit/testing/emulated_link.hpp"

#include <algorithm>
#include <vector>

#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/testing/faulty.hpp"
#include "ddpkit/testing/thread_world.hpp"
#include "support/catch.hpp"
#include "support/comm_conformance.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;
using namespace std::chrono_literals;

namespace {

// A time that passes only when somebody sleeps or says so.
struct VirtualTime {
  LinkClock::Time now{};
  std::size_t sleeps = 0;

  LinkClock clock() {
    return {.now = [this] { return now; },
            .sleep_until =
                [this](LinkClock::Time time) {
                  ++sleeps;
                  now = std::max(now, time);
                }};
  }
  std::chrono::nanoseconds passed() const { return now.time_since_epoch(); }
};

constexpr LinkSpeed kSlow{.latency = 1ms, .bytes_per_second = 4e6};  // 1000 floats in 2 ms

struct OneRank {
  std::unique_ptr<Communicator> local = make_communicator({.backend = Backend::local});
  VirtualTime time;
  EmulatedLink link{*local, kSlow, time.clock()};
  std::vector<float> data = std::vector<float>(1000, 1);

  Work sum(std::size_t count) { return link.all_reduce(std::span(data).first(count), ReduceOp::sum); }
};

}  // namespace

TEST_CASE("an operation takes the latency and its bytes over the bandwidth") {
  OneRank rank;
  rank.sum(1000).wait();
  CHECK(rank.time.passed() == 2ms);
  rank.sum(0).synchronize();
  CHECK(rank.time.passed() == 3ms);
}

TEST_CASE("operations cross the link one after another, in the order of issue") {
  OneRank rank;
  const Work first = rank.sum(1000);
  const Work second = rank.sum(500);
  second.wait();
  CHECK(rank.time.passed() == 3500us);
  first.wait();
  CHECK(rank.time.passed() == 3500us);
}

TEST_CASE("the link carries while the caller computes") {
  OneRank rank;
  const Work work = rank.sum(1000);
  rank.time.now += 1500us;
  CHECK_FALSE(work.done());
  work.wait();
  CHECK(rank.time.passed() == 2ms);
  const Work hidden = rank.sum(1000);
  rank.time.now += 2ms;
  CHECK(hidden.done());
  hidden.wait();
  CHECK(rank.time.passed() == 4ms);
}

TEST_CASE("an idle link begins when the operation is issued") {
  OneRank rank;
  rank.sum(1000).wait();
  rank.time.now += 10ms;
  rank.sum(1000).wait();
  CHECK(rank.time.passed() == 14ms);
}

TEST_CASE("waking late does not add up") {
  OneRank rank;
  const Work first = rank.sum(1000);
  const Work second = rank.sum(1000);
  first.wait();
  rank.time.now += 700us;
  second.wait();
  CHECK(rank.time.passed() == 4ms);
}

TEST_CASE("a link counts the larger buffer of an operation") {
  std::vector<std::chrono::nanoseconds> passed(2);
  run_ranks(2, [&](Communicator& comm) {
    VirtualTime own;
    EmulatedLink link(comm, kSlow, own.clock());
    std::vector<float> whole(1000), part(500);
    link.reduce_scatter(std::span<const float>(whole), std::span(part), ReduceOp::sum).wait();
    link.all_gather(std::span<const float>(part), std::span(whole)).wait();
    link.broadcast(std::span(part), 0).wait();
    link.barrier();
    passed[static_cast<std::size_t>(comm.rank())] = own.passed();
  });
  CHECK(passed == std::vector<std::chrono::nanoseconds>(2, 2ms + 2ms + 1500us + 1ms));
}

TEST_CASE("another speed holds for what is issued from then on") {
  OneRank rank;
  const Work slow = rank.sum(1000);
  rank.link.set_speed({.latency = 0ns, .bytes_per_second = 4e9});
  const Work fast = rank.sum(1000);
  fast.wait();
  CHECK(rank.time.passed() == 2ms + 1us);
}

TEST_CASE("a speed that is none is refused") {
  OneRank rank;
  CHECK_THROWS_AS(rank.link.set_speed({.bytes_per_second = 0}), UsageError);
  CHECK_THROWS_AS(rank.link.set_speed({.latency = -1ns}), UsageError);
}

TEST_CASE("an operation that fails below is not waited for") {
  OneRank rank;
  FaultyCommunicator faulty(*rank.local, {.kind = Fault::Kind::fail, .operation = 0});
  EmulatedLink link(faulty, kSlow, rank.time.clock());
  CHECK_THROWS_AS(link.all_reduce(std::span(rank.data), ReduceOp::sum).wait(), CommError);
  CHECK(rank.time.sleeps == 0);
}

TEST_CASE("an emulated link keeps every promise of a communicator") {
  const int ranks = GENERATE(1, 2, 3, 4);
  for (const ConformanceClaim& claim : conformance_claims()) DYNAMIC_SECTION(claim.claim << " on " << ranks << " ranks") {
      CHECK_NOTHROW(run_ranks(ranks, [&](Communicator& comm) {
        EmulatedLink link(comm, {.latency = 1us, .bytes_per_second = 1e12});
        claim.check(link);
      }));
    }
}

TEST_CASE("in real time a link takes no less than it should, and hides behind computing") {
  const auto local = make_communicator({.backend = Backend::local});
  EmulatedLink link(*local, {.latency = 2ms, .bytes_per_second = 1e9});
  std::vector<float> data(10);
  const auto start = std::chrono::steady_clock::now();
  std::vector<Work> works;
  for (int i = 0; i < 10; ++i) works.push_back(link.all_reduce(std::span(data), ReduceOp::sum));
  CHECK_FALSE(works.back().done());
  for (const Work& work : works) work.wait();
  const auto taken = std::chrono::steady_clock::now() - start;
  CHECK(taken >= 20ms);
  CHECK(taken < 2s);  // ten late wake-ups that added up would not be noticed; a link that hangs would
}
