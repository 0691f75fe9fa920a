#include "harness/rounds.hpp"

#include <algorithm>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace bench {
namespace {

constexpr int kMostIterations = 1'000'000;

}  // namespace

Block repeat(std::function<void()> body) {
  return [body = std::move(body)](int iterations) {
    body();
    return seconds_of([&] {
      for (int i = 0; i < iterations; ++i) body();
    });
  };
}

double Rounds::measure(Variant& variant) {
  team_.barrier();
  return team_.largest(variant.block(variant.iterations)) / variant.iterations;
}

void Rounds::choose_iterations(Variant& variant) {
  measure(variant);
  if (options_.block_seconds == 0) return;
  double block = measure(variant);
  while (block * variant.iterations < options_.block_seconds / 4 && variant.iterations < kMostIterations) {
    variant.iterations *= 4;
    block = measure(variant);
  }
  variant.iterations = std::max(1, static_cast<int>(options_.block_seconds / block));
}

void Rounds::run() {
  for (Variant& variant : variants_) choose_iterations(variant);
  for (int round = 0; round < options_.rounds; ++round)
    for (std::size_t turn = 0; turn < variants_.size(); ++turn) {
      Variant& variant = variants_[(turn + static_cast<std::size_t>(round)) % variants_.size()];
      variant.seconds.push_back(measure(variant));
    }
}

bool Rounds::has(const std::string& name) const {
  return std::ranges::find(variants_, name, &Variant::name) != variants_.end();
}

const std::vector<double>& Rounds::seconds(const std::string& name) const {
  const auto found = std::ranges::find(variants_, name, &Variant::name);
  if (found == variants_.end()) throw ddpkit::UsageError(ddpkit::text("no variant is called \"", name, "\""));
  return found->seconds;
}

double Rounds::best_of(const std::string& name) const {
  return std::ranges::min(seconds(name));
}

std::map<std::string, std::vector<double>> Rounds::samples() const {
  std::map<std::string, std::vector<double>> all;
  for (const Variant& variant : variants_) all[variant.name] = variant.seconds;
  return all;
}

std::string Rounds::fastest(const std::vector<std::string>& names) const {
  return *std::ranges::min_element(names, {}, [&](const std::string& name) { return median_of(name); });
}

Estimate Rounds::compare(const std::string& ours, const std::string& theirs, Statistic statistic) const {
  return estimate(seconds(ours), seconds(theirs), statistic);
}

}  // namespace bench
