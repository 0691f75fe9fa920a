#include "verify_documents.hpp"

#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "ddpkit/base/error.hpp"

namespace ddpkit::tool {
namespace {

using Json = nlohmann::json;

std::vector<ProbeFigures::Memory> read_memory(const Json& memory) {
  std::vector<ProbeFigures::Memory> ranks;
  for (const Json& rank : memory.at("ranks")) ranks.push_back({rank.at("rank"), rank.at("peak_bytes"), rank.at("limit_bytes")});
  return ranks;
}

std::vector<Placement> read_placement(const Json& placement) {
  std::vector<Placement> ranks;
  for (const Json& rank : placement)
    ranks.push_back({.rank = rank.at("rank"),
                     .host = rank.at("host"),
                     .cores = rank.at("cores"),
                     .threads = rank.at("threads"),
                     .oversubscribed = rank.at("oversubscribed")});
  return ranks;
}

struct Record {
  double loss = 0;
  std::int64_t samples = 0;
};

double number_or_nan(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

}  // namespace

ProbeFigures read_probe(const Json& document) {
  const Json& batch = document.at("batch");
  ProbeFigures figures{.ranks = document.at("world_size"),
                       .plan = {batch.at("global"), batch.at("micro"), batch.at("accumulate")},
                       .device = document.at("device"),
                       .utilisation = document.at("utilisation"),
                       .data_share = document.at("data_share"),
                       .communication_share = document.at("communication_share"),
                       .memory_target = document.at("memory").at("target"),
                       .memory = read_memory(document.at("memory")),
                       .placement = read_placement(document.at("placement")),
                       .verdict = document.at("verdict")};
  if (!document.at("samples_per_second").is_null()) figures.samples_per_second = document.at("samples_per_second");
  const Json& step = document.at("step_seconds");
  const double global = static_cast<double>(figures.plan.global), low = step.at("low"), high = step.at("high");
  if (figures.ran() && low > 0) figures.rate = {global / high, global / low};
  for (const char* phase : {"data", "forward", "backward", "reduce", "update"})
    figures.phases.push_back({phase, document.at("phase_seconds").at(phase)});
  return figures;
}

LossCurve read_losses(const std::filesystem::path& metrics, int ranks, const BatchPlan& plan) {
  std::ifstream file(metrics);
  std::map<std::int64_t, Record> by_step;  // of two records for one step the later one holds
  for (std::string line; std::getline(file, line);) {
    const Json record = Json::parse(line);
    if (record.at("kind") == "train")
      by_step[record.at("step")] = {number_or_nan(record.at("values").at("loss")), record.at("samples")};
  }
  if (!file.eof()) throw StorageError("cannot read " + metrics.string());
  LossCurve curve{.ranks = ranks, .plan = plan};
  for (const auto& [step, record] : by_step) {
    curve.losses.push_back(record.loss);
    curve.samples.push_back(record.samples);
  }
  return curve;
}

}  // namespace ddpkit::tool
