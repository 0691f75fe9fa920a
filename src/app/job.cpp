#include "ddpkit/app/job.hpp"

#include <algorithm>

#include "app/keep_tuning.hpp"
#include "app/report.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/data/open_dataset.hpp"
#include "ddpkit/tensor/copy_into.hpp"
#include "ddpkit/tensor/safetensors_io.hpp"
#include "ddpkit/tune/tune_batch.hpp"

namespace ddpkit {

Job::Job(Parts parts, Communicator& control, Logger& log) : parts_(std::move(parts)), control_(control), log_(log) {}

Trainer Job::trainer(Model model, LossFunction loss) {
  const std::string& weights = config().run.init_from;
  const Match match = config().run.init_match == InitMatch::strict ? Match::strict : Match::by_name;
  if (!weights.empty())
    all_or_none(control(), "loading run.init_from", [&] {
      if (control().rank() == 0) copy_into(model.weights(), load_tensors(weights), match, weights);
    });
  return Trainer(std::move(model), std::move(loss),
                 {.config = config(),
                  .channels = {data(), control()},
                  .log = log_,
                  .run_folder = parts_.run_folder,
                  .resume_from = parts_.resume_from,
                  .device = parts_.device});
}

ExitStatus Job::run(Trainer& trainer) {
  const DataOptions& data = config().data;
  const std::unique_ptr<Dataset> valid_set = open(data.valid, "data.valid");
  if (verb() == Verb::evaluate) {
    if (!valid_set) throw on_all_ranks(ConfigError("data.valid: evaluate needs a data set; set data.valid.format and path"));
    return evaluate(trainer, *valid_set);
  }
  const std::unique_ptr<Dataset> train_set = open(data.train, "data.train");
  if (!train_set)
    throw on_all_ranks(ConfigError("data.train: no data set; set data.train.format and path, or pass one to Job::run"));
  return work_on(trainer, *train_set, valid_set.get());
}

ExitStatus Job::run(Trainer& trainer, const Dataset& train_set, const Dataset* valid_set) {
  if (verb() == Verb::evaluate) {
    if (valid_set == nullptr) throw on_all_ranks(ConfigError("evaluate needs a validation set; pass one to Job::run"));
    return evaluate(trainer, *valid_set);
  }
  return work_on(trainer, train_set, valid_set);
}

/// What needs a training set.
ExitStatus Job::work_on(Trainer& trainer, const Dataset& train_set, const Dataset* valid_set) {
  if (verb() == Verb::probe) return probe(trainer, train_set);
  if (verb() == Verb::tune) return tune(trainer, train_set);
  return train(trainer, train_set, valid_set);
}

ExitStatus Job::train(Trainer& trainer, const Dataset& train_set, const Dataset* valid_set) {
  const TrainSummary summary = trainer.train(train_set, valid_set);
  if (control().rank() == 0) report(summary, parts_.run_folder, parts_.output, log_);
  return summary.end == TrainSummary::End::stopped ? ExitStatus::stopped : ExitStatus::ok;
}

ExitStatus Job::evaluate(Trainer& trainer, const Dataset& valid_set) {
  const bool weights_given = !parts_.resume_from.empty() || !config().run.init_from.empty();
  if (!weights_given && control().rank() == 0)
    log_.warning("job", "neither run.resume nor run.init_from is set: evaluating the weights that the program made");
  trainer.load_weights();
  const Tally evaluation = trainer.evaluate(valid_set);
  if (control().rank() == 0) report(evaluation, parts_.output, log_);
  return ExitStatus::ok;
}

ExitStatus Job::probe(Trainer& trainer, const Dataset& train_set) {
  ProbeReport result = ddpkit::probe(trainer, train_set, parts_.probe);
  result.placement = parts_.placement;
  if (control().rank() == 0) report(result, parts_.output);
  all_or_none(control(), "writing the step profile", [&] {
    if (control().rank() == 0 && result.step_profile) keep(*result.step_profile, parts_.probe.profile_file, log_);
  });
  return result.out_of_memory.empty() ? ExitStatus::ok : ExitStatus::memory;
}

ExitStatus Job::tune(Trainer& trainer, const Dataset& train_set) {
  TuneResult result = tune_batch(trainer, train_set);
  if (std::ranges::any_of(parts_.placement, &Placement::oversubscribed))
    result.notes.push_back("ranks have more threads than there are cores: times hold for this crowding only");
  all_or_none(control(), "keeping what tune found", [&] {
    if (control().rank() != 0) return;
    keep(result, parts_, log_);
    report(result, parts_.output);
  });
  return ExitStatus::ok;
}

std::unique_ptr<Dataset> Job::open(const SourceOptions& source, const std::string& name) {
  if (source.format == DataFormat::none) return nullptr;
  std::unique_ptr<Dataset> set;
  all_or_none(control(), name, [&] { set = open_dataset(source); });
  return set;
}

}  // namespace ddpkit
