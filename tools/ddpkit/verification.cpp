#include "verification.hpp"

#include <algorithm>
#include <cmath>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/text_table.hpp"

namespace ddpkit::tool {
namespace {

using Json = nlohmann::ordered_json;

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"dimension", finding.dimension},
                    {"verdict", word_for(finding.judgement)},
                    {"figure", finding.figure},
                    {"threshold", finding.threshold},
                    {"sentence", finding.sentence},
                    {"advice", finding.advice}});
  return list;
}

std::string_view name_of(ScalingPoint::State state) {
  switch (state) {
    case ScalingPoint::State::base: return "base";
    case ScalingPoint::State::judged: return "judged";
    case ScalingPoint::State::crowded: return "more ranks than cores";
    case ScalingPoint::State::uneven: return "other numbers of threads";
    case ScalingPoint::State::unknown: return "out of memory";
  }
  return "";
}

Json scaling_json(const std::vector<ProbeFigures>& probes) {
  Json list = Json::array();
  for (const ScalingPoint& point : scaling_of(probes))
    list.push_back({{"ranks", point.ranks},
                    {"state", name_of(point.state)},
                    {"speedup", point.speedup},
                    {"efficiency", point.efficiency},
                    {"low", point.range.low},
                    {"high", point.range.high}});
  for (std::size_t i = 0; i < probes.size(); ++i) {
    list[i]["bound"] = binding_text(probes[i].placement);
    list[i]["other_work"] = probes[i].other_work;
  }
  return list;
}

Json curves_json(const std::vector<LossCurve>& curves) {
  Json list = Json::array();
  for (const LossCurve& curve : curves) {
    const CurveDifference difference = difference_of(curves.front(), curve);
    list.push_back({{"ranks", curve.ranks},
                    {"micro", curve.plan.micro},
                    {"accumulate", curve.plan.accumulate},
                    {"losses", curve.losses},  // the library writes null for what is not finite
                    {"largest_difference", difference.largest},
                    {"at_step", difference.at}});
  }
  return list;
}

}  // namespace

bool Verification::passed() const noexcept {
  return std::ranges::none_of(findings, [](const Finding& finding) { return finding.judgement == Judgement::bad; });
}

std::string verification_json(const Verification& verification) {
  return Json{{"verb", "verify"},
              {"run", verification.run_name},
              {"time", verification.time},
              {"program", verification.request.program},
              {"config", verification.request.config},
              {"ranks", verification.request.ranks},
              {"global", verification.global},
              {"passed", verification.passed()},
              {"findings", findings_json(verification.findings)},
              {"scaling", scaling_json(verification.probes)},
              {"probes", verification.probe_documents},
              {"curves", curves_json(verification.curves)},
              {"commands", verification.commands}}
      .dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string verification_text(const Verification& verification) {
  using enum TextTable::Align;
  TextTable table({{"dimension", left}, {"verdict", left}, {"figure"}, {"wanted", left}});
  std::string sentences;
  for (const Finding& finding : verification.findings) {
    table.add({finding.dimension, std::string(word_for(finding.judgement)), finding.figure, finding.threshold});
    sentences += text("\n", finding.dimension, ": ", finding.sentence, finding.advice.empty() ? "" : "\n  ", finding.advice);
  }
  return text(table.str(), "\n", sentences);
}

}  // namespace ddpkit::tool
