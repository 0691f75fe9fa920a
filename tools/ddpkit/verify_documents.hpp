#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "ddpkit/batch/loss_curve.hpp"
#include "ddpkit/batch/probe_figures.hpp"

// What programs print and write, as values. The readers throw nlohmann::json::exception for documents of another form.

namespace ddpkit::tool {

/// The document of `probe --json`.
ProbeFigures read_probe(const nlohmann::json& document);

/// The losses of a run from its `metrics.jsonl`. Throws StorageError when the file cannot be read.
LossCurve read_losses(const std::filesystem::path& metrics, int ranks, const BatchPlan& plan);

}  // namespace ddpkit::tool
