#include "ddpkit/batch/batch_plan.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

/// "24 or 32": the multiples of `unit` around `value`.
std::string nearest_multiples(std::int64_t value, std::int64_t unit) {
  const std::int64_t below = value / unit * unit;
  return below > 0 ? text(below, " or ", below + unit) : text(unit);
}

/// "4 or 8": the divisors of `value` around `wanted`.
std::string nearest_divisors(std::int64_t value, std::int64_t wanted) {
  std::int64_t below = wanted < value ? wanted : value;
  while (value % below != 0) --below;
  std::int64_t above = wanted;
  while (above < value && value % above != 0) ++above;
  return above >= value ? text(below) : text(below, " or ", above);
}

std::int64_t quotient(std::string_view name, std::int64_t value, std::int64_t local, std::int64_t global,
                      std::int64_t world_size) {
  if (local % value != 0)
    throw ConfigError(text("batch.", name, ": ", value, " does not divide the ", local, " samples that each of ", world_size,
                           " ranks has of batch.global ", global, "; nearest: ", nearest_divisors(local, value)));
  return local / value;
}

}  // namespace

BatchPlan solve_batch(const BatchOptions& options, std::int64_t world_size) {
  const std::int64_t global = options.global;
  if (global % world_size != 0)
    throw ConfigError(text("batch.global: ", global, " samples cannot be shared equally by ", world_size,
                           " ranks; nearest: ", nearest_multiples(global, world_size)));
  const std::int64_t local = global / world_size;
  if (!options.micro && !options.accumulate) return {global, local, 1};
  if (!options.micro)
    return {global, quotient("accumulate", *options.accumulate, local, global, world_size), *options.accumulate};
  const std::int64_t accumulate = quotient("micro", *options.micro, local, global, world_size);
  if (options.accumulate && *options.accumulate != accumulate)
    throw ConfigError(text("batch: micro ", *options.micro, " x accumulate ", *options.accumulate, " x ", world_size,
                           " ranks is not the global batch ", global, "; set one of them to auto (accumulate would be ",
                           accumulate, ")"));
  return {global, *options.micro, accumulate};
}

}  // namespace ddpkit
