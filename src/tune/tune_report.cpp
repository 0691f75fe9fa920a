#include "ddpkit/tune/tune_report.hpp"

#include <algorithm>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/text_table.hpp"
#include "ddpkit/batch/throughput_model.hpp"

namespace ddpkit {
namespace {

std::string memory_cell(const BatchProfile& profile, std::int64_t bytes) {
  if (bytes == 0) return "";
  const std::string amount = bytes_figure(static_cast<double>(bytes));
  if (profile.memory_limit == 0) return amount;
  return text(amount, " (", percent_figure(static_cast<double>(bytes) / static_cast<double>(profile.memory_limit)), ")");
}

std::string measured_table(const BatchProfile& profile) {
  const ThroughputModel model(profile.measured);
  TextTable table({{"micro"},
                   {"samples/s per rank"},
                   {"+/-"},
                   {"of the plateau"},
                   {"memory"},
                   {"busy"},
                   {"waits for data"},
                   {"for gradients"},
                   {"", TextTable::Align::left}});
  for (const MicroMeasurement& at : profile.measured)
    table.add({grouped(at.micro), figure(at.samples_per_second()), percent_figure(at.half_width / at.seconds),
               percent_figure(model.efficiency(static_cast<double>(at.micro))), memory_cell(profile, at.peak_bytes),
               at.utilisation ? percent_figure(*at.utilisation) : "", percent_figure(at.data_share),
               percent_figure(at.communication_share), profile.choice && profile.choice->micro == at.micro ? "<- chosen" : ""});
  for (const std::int64_t micro : profile.out_of_memory)
    table.add({grouped(micro), "", "", "", "out of memory", "", "", "", ""});
  return table.str();
}

std::string model_text(const BatchProfile& profile) {
  const ThroughputModel model(profile.measured);
  const ThroughputModel::Knee knee = model.knee(profile.knee_efficiency);
  const std::string at = text("the knee, ", percent_figure(profile.knee_efficiency), " of the plateau, is at micro ",
                              figure(knee.micro), " (", figure(knee.low), " to ", figure(knee.high), ")");
  if (model.basis() == ThroughputModel::Basis::measured)
    return text("times do not follow t0 + b / r (one is ", percent_figure(model.residual()),
                " off), so the measured curve is used: ", at);
  return text("a micro-batch of b samples takes ", seconds_figure(model.t0()), " + b / ", figure(model.rate()), " s; ", at);
}

std::string check_text(const TuneResult& result) {
  const double measured = result.verified.step.value, predicted = result.predicted_step_seconds;
  const double off = measured / predicted - 1;
  return text("a step was predicted to take ", seconds_figure(predicted), " and took ", seconds_figure(measured), " (",
              off < 0 ? "-" : "+", percent_figure(std::abs(off)), "): ", figure(result.verified.samples_per_second()),
              " samples/s over all ranks, ", seconds_figure(result.verified.phases.reduce), " of it for communication, ",
              seconds_figure(result.verified.phases.update), " for the update");
}

}  // namespace

std::string batch_lines(const BatchPlan& plan) {
  return text("batch: {global: ", plan.global, ", micro: ", plan.micro, ", accumulate: ", plan.accumulate, "}");
}

std::string tune_text(const TuneResult& result) {
  std::string words = text(measured_table(result.profile), "\n", model_text(result.profile), "\n", result.choice.explanation,
                           "\n", check_text(result), "\n");
  for (const std::string& note : result.notes) words += text("note: ", note, "\n");
  return text(words, "\n", batch_lines(result.choice.chosen.plan), "  # on ", result.profile.world_size,
              result.profile.world_size == 1 ? " rank" : " ranks");
}

}  // namespace ddpkit
