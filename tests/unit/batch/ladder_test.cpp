#include "ddpkit/batch/ladder.hpp"

#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Contains;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

const MemoryAccount kEnough{.live = 20 * kMiB, .peak = 30 * kMiB, .reserved = 20 * kMiB, .limit = 64 * kMiB};
const MemoryAccount kFull{
    .phase = MemoryPhase::backward, .live = 20 * kMiB, .peak = 62 * kMiB, .reserved = 20 * kMiB, .limit = 64 * kMiB};
const MemoryAccount kFragmented{
    .phase = MemoryPhase::forward, .live = 20 * kMiB, .peak = 50 * kMiB, .reserved = 63 * kMiB, .limit = 64 * kMiB};
const MemoryAccount kRefusedForNoReason{
    .phase = MemoryPhase::optimizer, .live = 5 * kMiB, .peak = 6 * kMiB, .reserved = 5 * kMiB, .limit = 64 * kMiB};

RungDecision decide(const LadderState& state, std::vector<MemoryAccount> accounts) {
  return next_rung(state, accounts);
}

}  // namespace

TEST_CASE("a rank that is plainly full halves the micro-batch for all, and says with what numbers") {
  const RungDecision decision = decide({.micro = 32, .local_batch = 64}, {kEnough, kFull});
  CHECK(decision.rung == Rung::halve_micro);
  CHECK(decision.micro == 16);
  CHECK(decision.reason ==
        "out of memory on rank 1 in backward, peak 62 MiB of 64 MiB; micro-batch 32 becomes 16, accumulated 4 instead of 2 "
        "times");
}

TEST_CASE("an allocation that would have passed the limit is told with what was wanted, and needs no release of caches") {
  MemoryAccount account = kRefusedForNoReason;
  account.wanted = 65 * kMiB;
  const RungDecision decision = decide({.micro = 8, .local_batch = 8}, {account});
  CHECK(decision.rung == Rung::halve_micro);
  CHECK_THAT(decision.reason, Contains("65 MiB wanted of 64 MiB"));
  CHECK_THAT(decide({.micro = 1, .local_batch = 8}, {account}).reason, Contains("1 sample needs more than 65 MiB"));
}

TEST_CASE("what is cached and unused, or an unknown cause, is first met by giving caches back, once a window") {
  for (const MemoryAccount& account : {kFragmented, kRefusedForNoReason, MemoryAccount{.phase = MemoryPhase::batch}}) {
    LadderState state{.micro = 8, .local_batch = 8};
    const RungDecision first = decide(state, {kFull, account});
    CHECK(first.rung == Rung::release_cache);
    CHECK(first.micro == 8);
    state.cache_released = true;
    CHECK(decide(state, {kFull, account}).rung == Rung::halve_micro);
  }
  CHECK_THAT(decide({.micro = 8, .local_batch = 8}, {kFragmented}).reason,
             Contains("fragmented: 13 MiB cached and never used"));
}

TEST_CASE("what is allowed and changes results or time comes before halving, one after the other") {
  LadderState state{.micro = 8, .local_batch = 8, .bf16_left = true, .recompute_left = true};
  CHECK(decide(state, {kFull}).rung == Rung::bf16);
  state.bf16_left = false;
  CHECK(decide(state, {kFull}).rung == Rung::recompute);
  state.recompute_left = false;
  CHECK(decide(state, {kFull}).rung == Rung::halve_micro);
}

TEST_CASE("a leak is named before anything else, and is the end") {
  MemoryAccount leaking = kFull;
  leaking.growth = 3 * kMiB;
  const RungDecision decision = decide({.micro = 8, .local_batch = 8, .bf16_left = true}, {kFull, leaking});
  CHECK(decision.rung == Rung::end);
  CHECK_THAT(decision.reason, Contains("a leak on rank 1") && Contains("3 MiB") && Contains("detach()"));
  leaking.growth = kMiB / 4;  // a few scalars kept for a plot
  CHECK(decide({.micro = 8, .local_batch = 8}, {leaking}).rung == Rung::halve_micro);
  MemoryAccount elsewhere = kEnough;
  elsewhere.growth = 9 * kMiB;
  CHECK(decide({.micro = 8, .local_batch = 8}, {kFull, elsewhere}).rung == Rung::halve_micro);
}

TEST_CASE("below a micro-batch of one sample it ends with what the model needs") {
  const RungDecision decision = decide({.micro = 1, .local_batch = 8}, {kEnough, kFull});
  CHECK(decision.rung == Rung::end);
  CHECK_THAT(decision.reason, Contains("rank 1") && Contains("1 sample needs more than 62 MiB") && Contains("memory.limit"));
}

TEST_CASE("it ends at once where the run says so, and after ten rungs in one window") {
  const RungDecision at_once = decide({.micro = 8, .local_batch = 8, .may_climb = false}, {kFragmented});
  CHECK(at_once.rung == Rung::end);
  CHECK_THAT(at_once.reason, Contains("memory.when_full: ladder"));
  CHECK(decide({.micro = 8, .local_batch = 8, .rungs_in_window = 9}, {kFull}).rung == Rung::halve_micro);
  CHECK(decide({.micro = 8, .local_batch = 8, .rungs_in_window = 10}, {kFull}).rung == Rung::end);
}

TEST_CASE("more than four failed ranks are counted, not listed") {
  CHECK_THAT(decide({.micro = 8, .local_batch = 8}, std::vector<MemoryAccount>(7, kFull)).reason,
             Contains("rank 3 in") && !Contains("rank 4 in") && Contains("and 3 more"));
}

TEST_CASE("half a micro-batch divides the local batch where a divisor is near, and is never below one") {
  CHECK(halved_micro(32, 64) == 16);
  CHECK(halved_micro(15, 60) == 6);
  CHECK(halved_micro(3, 6) == 2);
  CHECK(halved_micro(7, 7) == 3);
  CHECK(halved_micro(2, 7) == 1);
  CHECK(halved_micro(1, 7) == 1);
  CHECK(halved_micro(64, 10) == 5);
  for (std::int64_t local = 1; local <= 60; ++local)
    for (std::int64_t micro = 2; micro <= local; ++micro) {
      const std::int64_t half = halved_micro(micro, local);
      INFO(micro << " of " << local);
      CHECK(half >= 1);
      CHECK(half < micro);
      CHECK(2 * half <= micro + 1);
      if (local % micro == 0 && micro % 2 == 0) CHECK(half == micro / 2);
    }
}
