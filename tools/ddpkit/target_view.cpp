#include "target_view.hpp"

#include <fstream>
#include <iostream>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/time_to_target.hpp"

namespace ddpkit::tool {
namespace {

TargetQuestion question_of(std::optional<std::int64_t> global, const TargetArguments& arguments) {
  const double critical = *arguments.critical_batch;
  return {.critical = {.samples = critical,
                       .low = arguments.critical_low.value_or(critical),
                       .high = arguments.critical_high.value_or(critical)},
          .reference_global = global.value_or(0),
          .reference_steps = static_cast<double>(arguments.target_steps.value_or(0))};
}

/// Time and cost beside each other, against devices above and against global batches below.
std::string four_charts(const TimeToTarget& result) {
  const ChartSize size;
  std::string all =
      text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", 2 * size.width, ' ', 2 * size.height, "\">");
  int row = 0;
  for (const TargetAxis axis : {TargetAxis::devices, TargetAxis::global}) {
    int column = 0;
    for (const TargetQuantity quantity : {TargetQuantity::time, TargetQuantity::cost}) {
      all += text("<g transform=\"translate(", column * size.width, ' ', row * size.height, ")\">");
      all += to_svg(target_chart(result, quantity, axis), size) + "</g>";
      ++column;
    }
    ++row;
  }
  return all + "</svg>\n";
}

void write_picture(const std::string& file, const std::string& svg) {
  std::ofstream out(file, std::ios::binary);
  out << svg;
  if (!out.flush()) throw StorageError(text("cannot write ", file));
}

/// "4.2 h", or "0.61 times the reference".
std::string amount_text(const TimeToTarget& result, double amount) {
  return result.unit == TimeToTarget::Unit::seconds ? seconds_figure(amount) : figure(amount) + " times the reference";
}

void print(const TimeToTarget& result) {
  const TargetRow& best = fastest(result);
  std::cout << target_table(result).str() << "\n\nfastest: global batch " << grouped(best.plan.global) << " on "
            << grouped(best.devices) << (best.devices == 1 ? " device" : " devices") << ", time "
            << amount_text(result, best.time) << ", cost " << amount_text(result, best.cost)
            << "; the reference is global batch " << grouped(result.reference.plan.global) << " on "
            << grouped(result.reference.devices) << '\n'
            << result.assumptions << '\n';
}

}  // namespace

bool TargetArguments::wanted() const {
  if (critical_batch) return true;
  if (critical_low || critical_high || target_steps || !svg.empty())
    throw UsageError("--critical-low, --critical-high, --target-steps and --svg need --critical-batch");
  return false;
}

void show_targets(const BatchProfile& profile, std::optional<std::int64_t> global, const TargetArguments& arguments,
                  TargetOutput output) {
  const TimeToTarget result = time_to_target(profile, question_of(global, arguments));
  if (!arguments.svg.empty()) write_picture(arguments.svg, four_charts(result));
  if (output == TargetOutput::json)
    std::cout << to_json(result) << '\n';
  else
    print(result);
}

}  // namespace ddpkit::tool
