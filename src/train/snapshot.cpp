#include "train/snapshot.hpp"

#include <filesystem>
#include <sstream>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/fields.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/checkpoint/checkpoint_store.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/reduce/parameter_sync.hpp"
#include "ddpkit/tensor/copy_into.hpp"
#include "ddpkit/tensor/safetensors_io.hpp"

namespace ddpkit {
namespace {

constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";

using Values = std::map<std::string, std::string>;

void add_batch(const BatchCourse::State& batch, Values& values) {
  const MeasuredBatch::State& measured = batch.measured;
  values["batch_course.global"] = format_scalar(batch.in_force.global);
  values["batch_course.rate_batch"] = format_scalar(batch.in_force.rate_batch);
  values["batch_course.next_global"] = format_scalar(measured.now.global);
  values["batch_course.next_rate_batch"] = format_scalar(measured.now.rate_batch);
  values["batch_course.changed_at.step"] = format_scalar(measured.changed_at.step);
  values["batch_course.changed_at.epoch"] = format_scalar(measured.changed_at.epoch);
  values["batch_course.changed_at.position"] = format_scalar(measured.changed_at.position);
  values["batch_course.swings.direction"] = format_scalar(measured.swings.direction);
  values["batch_course.swings.turns"] = format_scalar(measured.swings.turns);
  if (measured.swings.last) values["batch_course.swings.last"] = format_scalar(*measured.swings.last);
}

Values to_values(const RunState& state) {
  Values values{{"progress.step", format_scalar(state.progress.step)},
                {"progress.samples", format_scalar(state.progress.samples)},
                {"progress.global_batch", format_scalar(state.progress.global_batch)},
                {"sampler.epoch", format_scalar(state.sampler.epoch)},
                {"sampler.position", format_scalar(state.sampler.position)},
                {"sampler.global", format_scalar(state.sampler.global)},
                {"best.without_improvement", format_scalar(state.best.without_improvement)}};
  if (state.best.best) values["best.value"] = format_scalar(*state.best.best);
  if (state.batch) add_batch(*state.batch, values);
  if (state.fitting_micro) {
    values["memory.planned_micro"] = format_scalar(state.fitting_micro->planned);
    values["memory.fitting_micro"] = format_scalar(state.fitting_micro->fits);
  }
  if (state.bucket_plan) values["comm.bucket_plan"] = *state.bucket_plan;
  return values;
}

template <class T>
T value_of(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  T value{};
  const std::string expected = found == values.end() ? "a value" : parse_scalar(found->second, value);
  if (!expected.empty())
    throw StorageError(
        text("checkpoint: ", name, ": expected ", expected, ", got ", found == values.end() ? "none" : found->second));
  return value;
}

BatchCourse::State batch_of(const Values& values) {
  const auto whole = [&](const std::string& name) { return value_of<std::int64_t>(values, "batch_course." + name); };
  const auto real = [&](const std::string& name) { return value_of<double>(values, "batch_course." + name); };
  BatchCourse::State batch{
      .in_force = {whole("global"), real("rate_batch")},
      .measured = {.now = {whole("next_global"), real("next_rate_batch")},
                   .changed_at = {whole("changed_at.step"), whole("changed_at.epoch"), whole("changed_at.position")},
                   .swings = {.direction = whole("swings.direction"), .turns = whole("swings.turns")}}};
  if (values.contains("batch_course.swings.last")) batch.measured.swings.last = real("swings.last");
  return batch;
}

RunState from_values(const Values& values) {
  RunState state;
  state.progress.step = value_of<std::int64_t>(values, "progress.step");
  state.progress.samples = value_of<std::int64_t>(values, "progress.samples");
  state.progress.global_batch = value_of<std::int64_t>(values, "progress.global_batch");
  state.sampler.epoch = value_of<std::int64_t>(values, "sampler.epoch");
  state.sampler.position = value_of<std::int64_t>(values, "sampler.position");
  state.sampler.global = value_of<std::int64_t>(values, "sampler.global");
  state.best.without_improvement = value_of<std::int64_t>(values, "best.without_improvement");
  if (values.contains("best.value")) state.best.best = value_of<double>(values, "best.value");
  if (values.contains("batch_course.global")) state.batch = batch_of(values);
  if (values.contains("memory.fitting_micro"))
    state.fitting_micro = {.planned = value_of<std::int64_t>(values, "memory.planned_micro"),
                           .fits = value_of<std::int64_t>(values, "memory.fitting_micro")};
  if (const auto plan = values.find("comm.bucket_plan"); plan != values.end()) state.bucket_plan = plan->second;
  return state;
}

/// "name=value" lines, to send values to ranks that cannot see the file.
std::string join(const Values& values) {
  std::string lines;
  for (const auto& [name, value] : values) lines += text(name, "=", value, "\n");
  return lines;
}

Values split(const std::string& lines) {
  Values values;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) values[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  return values;
}

/// A checkpoint, or the newest good one of a folder of them.
Checkpoint find(const std::string& path, Logger& log) {
  if (std::filesystem::exists(std::filesystem::path(path) / Manifest::kFileName)) return Checkpoint(path);
  LatestCheckpoint latest = CheckpointStore(path, {}).latest_valid();
  for (const std::string& problem : latest.problems) log.warning("checkpoint", problem);
  if (!latest.checkpoint) throw StorageError(text("run.resume: no checkpoint in ", path));
  return std::move(*latest.checkpoint);
}

void require_identity(const Values& saved, const RunIdentity& here, const std::string& folder) {
  std::string differences;
  for (const auto& [name, value] : here)
    if (const auto found = saved.find(name); found != saved.end() && found->second != value)
      differences += text(differences.empty() ? "" : ", ", name, " was ", found->second, " and is ", value);
  if (!differences.empty())
    throw ConfigError(text("run.resume: ", folder, " belongs to another run: ", differences,
                           "; give the same settings, or start anew from its weights with run.init_from"));
}

/// On another number of ranks the global batch stays; how it is made may not.
void tell_what_moved(const BatchOptions& batch, std::int64_t ranks_before, std::int64_t ranks_now, Logger& log) {
  if (ranks_before == ranks_now) return;
  try {
    log.info("checkpoint", what_moved(solve_batch(batch, ranks_before), solve_batch(batch, ranks_now)));
  } catch (const ConfigError&) {
    // the present settings do not say how it was made before
  }
}

void load_model(const Model& model, const Checkpoint& checkpoint) {
  const std::string origin = (checkpoint.folder() / kModelFile).string();
  copy_into(model.weights(), tensors_in(checkpoint.open(kModelFile)), Match::strict, origin);
}

}  // namespace

bool Snapshot::save(const RunState& state, Standing standing, SaveFailure on_failure) {
  if (context_.run_folder.path().empty()) return false;
  Communicator& ranks = context_.channels.control;
  try {
    all_or_none(ranks, "saving a checkpoint", [&] {
      const std::vector<NamedTensor> moments = optimizer_.state();  // on all ranks, which may each have a part of it
      if (ranks.rank() == 0) write(state, moments, standing);
    });
    return true;
  } catch (const Error& error) {
    const bool storage = error.status() == ExitStatus::storage;
    if (on_failure == SaveFailure::raise || !storage) throw;  // what is no matter of the disk will not get better
    if (ranks.rank() == 0) context_.log.warning("checkpoint", text(error.what(), "; training goes on without it"));
    return false;
  }
}

void Snapshot::write(const RunState& state, const std::vector<NamedTensor>& optimizer_state, Standing standing) {
  const std::vector<NamedTensor> weights = on_host(model_.weights());
  const std::vector<NamedTensor> moments = on_host(optimizer_state);
  Values values = to_values(state);
  values.insert(identity_.begin(), identity_.end());
  CheckpointStore store(context_.run_folder.checkpoints(), context_.config.checkpoint);
  const std::filesystem::path path = store.save(
      {.step = state.progress.step,
       .world_size = context_.channels.control.world_size(),
       .standing = standing,
       .sampler = {.epoch = state.sampler.epoch, .position = state.sampler.position, .global = state.sampler.global},
       .values = values,
       .files = {{kModelFile, as_named_bytes(weights), {{"format", "pt"}}}, {kOptimizerFile, as_named_bytes(moments), {}}}});
  context_.log.info("checkpoint", text("saved ", path.string()));
}

void Snapshot::resume_weights(Model& model, const TrainerContext& context) {
  Communicator& ranks = context.channels.control;
  const std::string path = broadcast_text(ranks, context.resume_from);
  if (path.empty()) return;
  all_or_none(ranks, "loading the checkpoint", [&] {
    if (ranks.rank() == 0) load_model(model, find(path, context.log));
  });
  broadcast_tensors(model.weights(), context.channels);
}

bool Snapshot::resume(RunState& state) {
  Communicator& ranks = context_.channels.control;
  const std::string path = broadcast_text(ranks, context_.resume_from);
  if (path.empty()) return false;
  std::string values;
  std::vector<NamedTensor> moments;
  all_or_none(ranks, "loading the checkpoint", [&] {
    if (ranks.rank() != 0) return;
    const Checkpoint checkpoint = find(path, context_.log);
    require_identity(checkpoint.manifest().values, identity_, checkpoint.folder().string());
    load_model(model_, checkpoint);
    moments = tensors_in(checkpoint.open(kOptimizerFile));
    values = join(checkpoint.manifest().values);
    context_.log.info("checkpoint", text("going on from ", checkpoint.folder().string()));
    tell_what_moved(context_.config.batch, checkpoint.manifest().world_size, ranks.world_size(), context_.log);
  });
  broadcast_tensors(model_.weights(), context_.channels);
  moments = share_tensors(std::move(moments), context_.channels);
  all_or_none(ranks, "loading the optimizer's state", [&] { optimizer_.load_state(moments); });
  const std::string shared = broadcast_text(ranks, values);
  all_or_none(ranks, "reading the state of the run", [&] { state = from_values(split(shared)); });
  return true;
}

}  // namespace ddpkit
