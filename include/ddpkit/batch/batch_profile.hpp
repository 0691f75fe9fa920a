#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ddpkit/batch/batch_plan.hpp"

namespace ddpkit {

/// What was measured at one micro-batch, over all ranks: the slowest time, the largest memory.
struct MicroMeasurement {
  std::int64_t micro = 0;
  double seconds = 0;                 ///< forward and backward of one micro-batch on the slowest rank, data wait left out
  double half_width = 0;              ///< of the 95 % confidence interval of `seconds`
  std::int64_t repeats = 0;           ///< windows that counted
  std::int64_t peak_bytes = 0;        ///< on the fullest rank; 0: not known
  double data_share = 0;              ///< part of the step that ranks waited for data
  double communication_share = 0;     ///< part of the step that ranks waited for gradients after backward
  std::optional<double> utilisation;  ///< part of the step in which the device worked; CPU: 1 - the two shares

  double samples_per_second() const noexcept { return static_cast<double>(micro) / seconds; }  ///< of one rank
};

/// What a machine does with a model at several micro-batches: the result of `tune`, and what `plan` and `verify` read.
struct BatchProfile {
  std::string model;  ///< name of the run
  std::string device = "cpu";
  int world_size = 1;
  int nodes = 1;
  std::vector<MicroMeasurement> measured;   ///< in rising order of micro
  std::vector<std::int64_t> out_of_memory;  ///< micro-batches that did not fit on some rank, rising
  double communication_seconds = 0;         ///< of one window after backward, on the slowest rank
  double update_seconds = 0;                ///< optimizer, on the slowest rank
  std::int64_t gradient_bytes = 0;
  std::int64_t memory_limit = 0;  ///< bytes of the rank with the least; 0: none known
  double memory_target = 0.9;
  double knee_efficiency = 0.9;
  std::int64_t dataset = 0;         ///< samples of an epoch; 0: not known
  std::optional<BatchPlan> choice;  ///< what tune came to
  std::string explanation;          ///< why, in words
};

/// One JSON document, "ddpkit batch profile" version 1. Numbers keep all their digits.
std::string to_json(const BatchProfile& profile);

/// Throws DataError that names what is missing or of the wrong type, for other documents and other versions.
BatchProfile parse_batch_profile(const std::string& json);

/// As parse_batch_profile. Throws StorageError when the file cannot be read; errors name the file.
BatchProfile read_batch_profile(const std::filesystem::path& file);

}  // namespace ddpkit
