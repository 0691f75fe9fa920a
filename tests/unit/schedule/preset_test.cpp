#include "ddpkit/schedule/preset.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/schedule/lr_schedule.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr auto kEpochs = Extent::Unit::epochs;
constexpr RunLength kNinetyEpochs{.steps = 900, .steps_per_epoch = 10};

}  // namespace

TEST_CASE("without a preset the options come back as they are") {
  const ScheduleOptions options = apply_preset({.warmup = {3, kEpochs}, .decay = Decay::cosine});
  CHECK(options.warmup == Extent{3, kEpochs});
  CHECK(options.decay == Decay::cosine);
  CHECK(options.milestones.empty());
}

TEST_CASE("Goyal's recipe scales 0.1 at 256 and rises from it over five epochs") {
  const LrSchedule schedule = make_schedule({.preset = SchedulePreset::goyal_imagenet}, 0.1, kNinetyEpochs);
  const auto rate = [&](std::int64_t step, std::int64_t global) { return schedule.at({.step = step, .global_batch = global}); };
  CHECK(rate(0, 8192) == Approx(0.1));
  CHECK(rate(1, 8192) == Approx(0.1 + 3.1 / 49));
  CHECK(rate(49, 8192) == Approx(3.2).epsilon(1e-15));
  CHECK(rate(0, 256) == Approx(0.1));
  CHECK(rate(20, 256) == Approx(0.1));
  CHECK(rate(0, 64) == Approx(0.025));  // a smaller batch starts at its own target
}

TEST_CASE("Goyal's recipe drops to a tenth after 30, 60 and 80 epochs") {
  const LrSchedule schedule = make_schedule({.preset = SchedulePreset::goyal_imagenet}, 0.1, kNinetyEpochs);
  const auto rate = [&](std::int64_t step) { return schedule.at({.step = step, .global_batch = 8192}); };
  CHECK(rate(299) == Approx(3.2));
  CHECK(rate(300) == Approx(0.32));
  CHECK(rate(599) == Approx(0.32));
  CHECK(rate(600) == Approx(0.032));
  CHECK(rate(799) == Approx(0.032));
  CHECK(rate(800) == Approx(0.0032));
  CHECK(rate(899) == Approx(0.0032));
}

TEST_CASE("fields given beside a preset win") {
  const ScheduleOptions options = apply_preset({.preset = SchedulePreset::goyal_imagenet,
                                                .scaling = Scaling::square_root,
                                                .reference_batch = 128,
                                                .warmup = {1, kEpochs},
                                                .decay = Decay::cosine,
                                                .gamma = 0.2});
  CHECK(options.scaling == Scaling::square_root);
  CHECK(options.reference_batch == 128);
  CHECK(options.warmup == Extent{1, kEpochs});
  CHECK(options.decay == Decay::cosine);
  CHECK(options.gamma == 0.2);

  const LrSchedule started = make_schedule({.preset = SchedulePreset::goyal_imagenet, .warmup_start = 0.5}, 0.1, kNinetyEpochs);
  CHECK(started.at({.step = 0, .global_batch = 512}) == Approx(0.1));
  CHECK(started.at({.step = 0, .global_batch = 1024}) == Approx(0.2));
}
