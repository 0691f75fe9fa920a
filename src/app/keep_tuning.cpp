#include "app/keep_tuning.hpp"

#include <filesystem>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/checkpoint/replace_file.hpp"
#include "ddpkit/config/edit_run_file.hpp"
#include "ddpkit/tune/tune_report.hpp"

namespace ddpkit {
namespace {

namespace fs = std::filesystem;

fs::path folder_for(const Job::Parts& parts) {
  if (parts.tune.dir.empty()) return parts.run_folder.path();
  std::error_code error;
  fs::create_directories(parts.tune.dir, error);
  if (error) throw StorageError(text("--out ", parts.tune.dir, ": cannot be made: ", error.message()));
  return fs::absolute(parts.tune.dir);
}

/// Accumulation stays `auto` where it is, so that the file holds for other numbers of ranks too.
std::vector<SettingEdit> edits_for(const BatchPlan& plan, const LoadedConfig& loaded) {
  std::vector<SettingEdit> edits{{"batch", "micro", text(plan.micro)}};
  const std::optional<std::int64_t>& accumulate = loaded.config.batch.accumulate;
  if (accumulate && *accumulate != plan.accumulate) edits.push_back({"batch", "accumulate", text(plan.accumulate)});
  return edits;
}

void write_run_file(const BatchPlan& plan, const Job::Parts& parts, Logger& log) {
  edit_run_file(parts.config_file, edits_for(plan, parts.loaded), parts.defaults);
  log.info("tune", text("wrote micro: ", plan.micro, " into section batch of ", parts.config_file));
  if (parts.loaded.origins.of("batch.global") == "--set")
    log.warning("tune",
                text("batch.global: ", plan.global, " came from --set and is not in the file; set it again when you train"));
}

}  // namespace

void keep(const TuneResult& result, const Job::Parts& parts, Logger& log) {
  const fs::path folder = folder_for(parts);
  replace_file(folder / "tune.json", to_json(result.profile) + "\n");
  replace_file(folder / "tune.svg", to_svg(throughput_chart(result.profile)));
  log.info("tune", text("wrote ", (folder / "tune.json").string(), " and tune.svg"));
  if (parts.tune.run_file == RunFileEdit::write) write_run_file(result.choice.chosen.plan, parts, log);
}

void keep(const StepProfile& profile, const std::string& file, Logger& log) {
  replace_file(file, to_json(profile));
  log.info("probe", text("wrote the step profile ", file, "; what it becomes on more ranks: ddpkit simulate --profile ", file,
                         " --cluster FILE"));
}

}  // namespace ddpkit
