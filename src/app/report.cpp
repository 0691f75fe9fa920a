#include "app/report.hpp"

#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "ddpkit/base/text.hpp"
#include "ddpkit/tune/tune_report.hpp"

namespace ddpkit {
namespace {

std::string_view name_of(TrainSummary::End end) {
  switch (end) {
    case TrainSummary::End::complete: return "complete";
    case TrainSummary::End::early: return "stopped early";
    case TrainSummary::End::stopped: return "stopped on request and saved; run again with --set run.resume=latest to go on";
  }
  return "?";
}

std::string metrics_text(const Tally& evaluation) {
  std::string line;
  for (const Metric& metric : evaluation.values())
    line += text(line.empty() ? "" : ", ", "valid/", metric.name, " ", std::setprecision(5), metric.value);
  return line;
}

nlohmann::ordered_json metrics_json(const Tally& evaluation) {
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (const Metric& metric : evaluation.values()) values["valid/" + metric.name] = metric.value;  // NaN becomes null
  return values;
}

}  // namespace

void report(const TrainSummary& summary, const RunFolder& folder, OutputFormat format, Logger& log) {
  if (format == OutputFormat::json) {
    const nlohmann::ordered_json document = {{"end", name_of(summary.end)},
                                             {"step", summary.progress.step},
                                             {"samples", summary.progress.samples},
                                             {"metrics", metrics_json(summary.evaluation)},
                                             {"train_seconds", summary.train_seconds},
                                             {"samples_per_second", summary.samples_per_second},
                                             {"run_folder", folder.path().string()}};
    std::cout << document.dump(2) << std::endl;
    return;
  }
  log.info("job", text("training ", name_of(summary.end), " at step ", summary.progress.step));
  if (const std::string metrics = metrics_text(summary.evaluation); !metrics.empty()) log.info("job", metrics);
  log.info("job", text(std::llround(summary.samples_per_second), " samples/s in training"));
  log.info("job", text("run folder: ", folder.path().string()));
}

void report(const Tally& evaluation, OutputFormat format, Logger& log) {
  if (format == OutputFormat::json)
    std::cout << nlohmann::ordered_json{{"metrics", metrics_json(evaluation)}}.dump(2) << std::endl;
  else
    log.info("job", metrics_text(evaluation));
}

void report(const TuneResult& tuned, OutputFormat format) {
  std::cout << (format == OutputFormat::json ? to_json(tuned.profile) : tune_text(tuned)) << std::endl;
}

void report(const ProbeReport& probe, OutputFormat format) {
  std::cout << (format == OutputFormat::json ? probe_json(probe) : probe_text(probe)) << std::endl;
}

}  // namespace ddpkit
