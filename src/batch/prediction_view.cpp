#include <nlohmann/json.hpp>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/step_prediction.hpp"

namespace ddpkit {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const StepParts& parts) {
  return {{"step_seconds", parts.seconds()},
          {"compute_seconds", parts.compute_seconds},
          {"straggler_seconds", parts.straggler_seconds},
          {"exposed_seconds", parts.exposed_seconds}};
}

Json as_json(const Prediction& prediction, const PredictedStep& step) {
  Json row{{"ranks", step.ranks}, {"nodes", step.nodes}, {"buckets", step.buckets}, {"all_reduce", name_of(step.all_reduce)}};
  row.update(as_json(step.likely));
  row["efficiency"] = efficiency(prediction, step);
  row["speed_up"] = speed_up(prediction, step);
  row["band"] = {{"efficiency_low", efficiency(prediction, step, LinkEfficiency::low)},
                 {"efficiency_high", efficiency(prediction, step, LinkEfficiency::high)},
                 {"slow_link", as_json(step.slow_link)},
                 {"fast_link", as_json(step.fast_link)}};
  return row;
}

std::string band_text(const Prediction& prediction, const PredictedStep& step) {
  return text(fixed_figure(efficiency(prediction, step, LinkEfficiency::low), 3), " to ",
              fixed_figure(efficiency(prediction, step, LinkEfficiency::high), 3));
}

/// "5.5 % of it waiting for the slowest rank, 4.9 % communication that no computing hides".
std::string losses_text(const StepParts& parts) {
  return text(percent_figure(parts.straggler_seconds / parts.seconds()), " of it waiting for the slowest rank, ",
              percent_figure(parts.exposed_seconds / parts.seconds()), " communication that no computing hides");
}

}  // namespace

TextTable prediction_table(const Prediction& prediction) {
  TextTable table({{"ranks"},
                   {"nodes"},
                   {"step"},
                   {"exposed"},
                   {"stragglers"},
                   {"efficiency"},
                   {"band"},
                   {"speed-up"},
                   {"all-reduce", TextTable::Align::left}});
  for (const PredictedStep& step : prediction.steps)
    table.add({grouped(step.ranks), grouped(step.nodes), seconds_figure(step.likely.seconds()),
               seconds_figure(step.likely.exposed_seconds), seconds_figure(step.likely.straggler_seconds),
               fixed_figure(efficiency(prediction, step), 3), band_text(prediction, step), figure(speed_up(prediction, step)),
               step.ranks == 1 ? "-" : std::string(name_of(step.all_reduce))});
  return table;
}

std::string to_json(const Prediction& prediction) {
  const PredictionRequest& request = prediction.request;
  Json document{{"format", "ddpkit step prediction"},
                {"version", 1},
                {"model", request.profile.model},
                {"cluster", request.cluster.name},
                {"samples_per_rank", request.profile.samples},
                {"gradient_bytes", request.profile.gradient_bytes()},
                {"bucket_bytes", request.sizes.bucket_bytes},
                {"tail_bytes", request.sizes.tail_bytes},
                {"jitter", request.cluster.jitter.value_or(request.profile.jitter)},
                {"baseline", prediction.baseline.ranks}};
  for (const PredictedStep& step : prediction.steps) document["steps"].push_back(as_json(prediction, step));
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

Chart efficiency_chart(const Prediction& prediction) {
  Chart::Series band{.name = "slower and faster link", .mark = Chart::Mark::band, .points = {}};
  Chart::Series line{.name = "predicted", .mark = Chart::Mark::line, .points = {}};
  for (const PredictedStep& step : prediction.steps) {
    const double likely = efficiency(prediction, step);
    band.points.push_back({.x = static_cast<double>(step.ranks),
                           .y = likely,
                           .low = efficiency(prediction, step, LinkEfficiency::low),
                           .high = efficiency(prediction, step, LinkEfficiency::high)});
    line.points.push_back({.x = static_cast<double>(step.ranks), .y = likely});
  }
  const PredictionRequest& request = prediction.request;
  return {.title = text(request.profile.model, " on ", request.cluster.name),
          .x = {.label = "ranks", .scale = Chart::Scale::log2},
          .y = {.label = text("efficiency, against ", grouped(request.baseline), request.baseline == 1 ? " rank" : " ranks"),
                .max = 1.02},
          .series = {std::move(band), std::move(line)},
          .guides = {}};
}

std::string prediction_text(const Prediction& prediction) {
  const PredictionRequest& request = prediction.request;
  const PredictedStep& last = prediction.steps.back();
  return text(bytes_figure(static_cast<double>(request.profile.gradient_bytes())), " of gradients in ", last.buckets,
              last.buckets == 1 ? " bucket" : " buckets", ", ", grouped(request.profile.samples), " samples per rank, jitter ",
              percent_figure(request.cluster.jitter.value_or(request.profile.jitter)), ". The step on ", grouped(last.ranks),
              last.ranks == 1 ? " rank takes " : " ranks takes ", seconds_figure(last.likely.seconds()), ", ",
              losses_text(last.likely), ". Predicted, not measured; the band is the links' efficiency.");
}

}  // namespace ddpkit
