#pragma once

#include "ddpkit/schedule/schedule_options.hpp"

namespace ddpkit {

/// The options with the preset's values in every field that still has its default, so that fields given as well win (a field
/// given its default value cannot be told from one left out). Pure; without a preset the options come back as they are.
///
/// goyal_imagenet (Goyal et al. 2017, arXiv:1706.02677): the rate is right for a batch of 256 (0.1 for ResNet-50), scales
/// linearly, rises over 5 epochs from the unscaled rate and drops to a tenth after 30, 60 and 80 epochs.
ScheduleOptions apply_preset(ScheduleOptions options);

}  // namespace ddpkit
