#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ddpkit/batch/batch_profile.hpp"

namespace ddpkit::tool {

/// How `ddpkit plan` shows time and cost to a target.
struct TargetArguments {
  std::optional<double> critical_batch{};
  std::optional<double> critical_low{};
  std::optional<double> critical_high{};
  std::optional<std::int64_t> target_steps{};
  std::string svg{};  ///< file; empty: none

  /// Whether it is asked for at all. Throws UsageError for options that need --critical-batch where that is missing.
  bool wanted() const;
};

enum class TargetOutput { text, json };

/// Prints the table or the document on standard output, and writes the picture where one is asked for. `global` is the batch to
/// compare with, else the profile's choice. Throws as time_to_target, and StorageError when the picture cannot be written.
void show_targets(const BatchProfile& profile, std::optional<std::int64_t> global, const TargetArguments& arguments,
                  TargetOutput output);

}  // namespace ddpkit::tool
