#include "simulate_request.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/config/load_config.hpp"
#include "ddpkit/config/read_simulation.hpp"
#include "verify_request.hpp"

namespace ddpkit::tool {
namespace {

void require_between(double least, double most, const char* option, std::optional<double> value) {
  if (value && !(*value >= least && *value <= most))
    throw UsageError(text(option, ": expected a number from ", least, " to ", most, ", got ", *value));
}

void require_sense(const SimulateArguments& arguments) {
  require_between(1, 1e10, "--baseline", arguments.baseline);
  require_between(1, 1 << 20, "--bucket-mib", arguments.bucket_mib);
  require_between(1, 1 << 30, "--tail-kib", arguments.tail_kib);
  require_between(0, 1, "--jitter", arguments.jitter);
}

void take_run_file(const std::string& file, PredictionRequest& request) {
  const LoadedConfig loaded = load_config({.file = file});
  const RunConfig& config = loaded.config;
  if (loaded.origins.given("run.name") && config.run.name != request.profile.model)
    throw ConfigError(text(loaded.origins.of("run.name"), " is of the run '", config.run.name,
                           "', but the step profile was recorded of '", request.profile.model,
                           "'; record one with this run file"));
  request.sizes = {.bucket_bytes = config.reducer.bucket_mib << 20, .tail_bytes = config.reducer.tail_kib << 10};
  request.cutting = config.reducer.plan == PlanBy::measured ? Cutting::by_time : Cutting::by_size;
}

}  // namespace

PredictionRequest make_request(const SimulateArguments& arguments) {
  require_sense(arguments);
  PredictionRequest request{.profile = read_step_profile(arguments.profile), .cluster = read_cluster(arguments.cluster)};
  if (!arguments.config.empty()) take_run_file(arguments.config, request);
  if (!arguments.ranks.empty())
    for (const int ranks : read_ranks(arguments.ranks)) request.ranks.push_back(ranks);
  request.baseline = arguments.baseline.value_or(1);
  if (arguments.bucket_mib) request.sizes.bucket_bytes = *arguments.bucket_mib << 20;
  if (arguments.tail_kib) request.sizes.tail_bytes = *arguments.tail_kib << 10;
  request.cutting = arguments.plan.value_or(request.cutting);
  if (arguments.jitter) request.cluster.jitter = arguments.jitter;
  request.cluster.all_reduce = arguments.all_reduce.value_or(request.cluster.all_reduce);
  return request;
}

}  // namespace ddpkit::tool
