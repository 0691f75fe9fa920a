#include "plan_request.hpp"

#include <iostream>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/config/load_config.hpp"
#include "ddpkit/data/open_dataset.hpp"

namespace ddpkit::tool {
namespace {

template <class T>
void fill(std::optional<T>& value, const std::optional<T>& otherwise) {
  if (!value) value = otherwise;
}

template <class T>
void overrule(T& value, const std::optional<T>& typed) {
  if (typed) value = *typed;
}

void require_at_least(std::int64_t least, const char* option, const std::optional<std::int64_t>& value) {
  if (value && *value < least)
    throw UsageError(text(option, ": expected a whole number of at least ", least, ", got ", *value));
}

void require_sense(const PlanArguments& arguments) {
  require_at_least(1, "--global", arguments.query.global);
  require_at_least(1, "--micro", arguments.query.micro);
  require_at_least(1, "--max-micro", arguments.query.max_micro);
  require_at_least(1, "--accumulate", arguments.query.accumulate);
  require_at_least(1, "--world", arguments.query.world);
  require_at_least(1, "--dataset", arguments.dataset);
  require_at_least(1, "--reference-batch", arguments.reference_batch);
  require_at_least(0, "--epochs", arguments.epochs);
  if (arguments.memory_limit) require_at_least(1, "--memory-limit", arguments.memory_limit->count);
  if (arguments.lr && !(*arguments.lr >= 0)) throw UsageError(text("--lr: expected at least 0, got ", *arguments.lr));
  if (arguments.warmup && !(arguments.warmup->amount >= 0))
    throw UsageError(text("--warmup: expected at least 0, got ", arguments.warmup->amount));
}

/// A triple that the file has with another one that was typed may contradict itself: what was typed decides, and the file fills
/// in a factor only where neither was typed.
void fill_from_batch(PlanQuery& query, const BatchOptions& batch) {
  const bool typed = query.micro || query.accumulate;
  fill(query.global, std::optional(batch.global));
  if (!typed) {
    query.micro = batch.micro;
    query.accumulate = batch.accumulate;
  }
  fill(query.max_micro, batch.max_micro);
}

/// 0 where the data set of a run file cannot be read here, which is no reason not to plan.
std::int64_t samples_of(const SourceOptions& source) {
  if (source.format == DataFormat::none) return 0;
  try {
    return open_dataset(source)->size();
  } catch (const Error& error) {
    std::cerr << "ddpkit: steps per epoch are not known, give --dataset: " << error.what() << '\n';
    return 0;
  }
}

void fill_from_config(PlanRequest& request, const PlanArguments& arguments) {
  const RunConfig config = load_config({.file = arguments.config}).config;
  fill_from_batch(request.query, config.batch);
  request.terms = {.dataset = arguments.dataset ? 0 : samples_of(config.data.train),
                   .tail = config.data.tail,
                   .epochs = config.run.epochs,
                   .steps = config.run.steps,
                   .lr = config.optimizer.lr,
                   .schedule = config.schedule};
  if (config.memory.limit) request.memory_limit = config.memory.limit->count;
}

void fill_from_profile(PlanRequest& request, const std::string& file) {
  request.profile = read_batch_profile(file);
  const bool open = !request.query.global && !request.query.micro && !request.query.max_micro;
  if (open && request.profile->choice) request.query.global = request.profile->choice->global;
  if (request.terms.dataset == 0) request.terms.dataset = request.profile->dataset;
}

void overrule_terms(PlanTerms& terms, const PlanArguments& arguments) {
  overrule(terms.dataset, arguments.dataset);
  overrule(terms.tail, arguments.tail);
  if (arguments.lr) terms.lr = arguments.lr;
  overrule(terms.schedule.scaling, arguments.scaling);
  overrule(terms.schedule.reference_batch, arguments.reference_batch);
  overrule(terms.schedule.warmup, arguments.warmup);
  if (arguments.epochs) terms.steps = 0;
  overrule(terms.epochs, arguments.epochs);
}

}  // namespace

PlanRequest make_request(const PlanArguments& arguments) {
  require_sense(arguments);
  PlanRequest request{.query = arguments.query};
  if (!arguments.config.empty()) fill_from_config(request, arguments);
  if (!arguments.profile.empty()) fill_from_profile(request, arguments.profile);
  overrule_terms(request.terms, arguments);
  if (arguments.memory_limit) request.memory_limit = arguments.memory_limit->count;
  if (!request.profile && !arguments.memory_limit) request.memory_limit.reset();  // that of a run file is for the run
  return request;
}

}  // namespace ddpkit::tool
