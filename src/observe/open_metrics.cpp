#include "ddpkit/observe/open_metrics.hpp"

#include "ddpkit/observe/console_progress.hpp"
#include "ddpkit/observe/jsonl_sink.hpp"
#include "ddpkit/observe/tensorboard_sink.hpp"

namespace ddpkit {

std::unique_ptr<MetricHub> open_metrics(const MetricOptions& options, const MetricsOfRun& run, Logger& logger) {
  auto hub = std::make_unique<MetricHub>(logger);
  if (run.rank != 0) return hub;
  const bool has_folder = !run.folder.path().empty();
  if (has_folder && options.jsonl) hub->add("metrics.jsonl", [&] { return std::make_unique<JsonlSink>(run.folder.metrics()); });
  if (has_folder && options.tensorboard)
    hub->add("TensorBoard events", [&] { return std::make_unique<TensorBoardSink>(run.folder.path()); });
  if (options.progress == ProgressDisplay::off) return hub;
  hub->add(std::make_unique<ConsoleProgress>(logger, ConsoleProgress::Setup{.display = options.progress,
                                                                            .progress_every = options.progress_every,
                                                                            .total_steps = run.total_steps,
                                                                            .terminal = standard_error(),
                                                                            .clock = {}}));
  return hub;
}

}  // namespace ddpkit
