#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/estimate.hpp"
#include "harness/team.hpp"

namespace bench {

/// Does its work so many times and returns how long that took this rank, in seconds.
using Block = std::function<double(int iterations)>;

/// The block that calls `body`: once without a clock, so that it finds its data where its last call left them, then timed.
Block repeat(std::function<void()> body);

/// Seconds that `body` takes.
template <class Body>
double seconds_of(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct RoundsOptions {
  int rounds = 15;
  double block_seconds = 0.1;  ///< iterations of a block are chosen so that it takes about so long; 0: one each
};

/// Variants of the same work, measured in turn: in each round every variant runs one block, the first one being another in each
/// round. All ranks begin a block together, and the slowest rank's time counts. What a first block measures is thrown away.
class Rounds {
 public:
  /// `team` must outlive it.
  explicit Rounds(const Team& team, const RoundsOptions& options) : team_(team), options_(options) {}

  void add(std::string name, Block block) { variants_.push_back({std::move(name), std::move(block), 1, {}}); }
  bool has(const std::string& name) const;

  /// Collective, like all that follows blocks.
  void run();

  /// Seconds per iteration, one for each round.
  const std::vector<double>& seconds(const std::string& name) const;
  double median_of(const std::string& name) const { return median(seconds(name)); }
  double best_of(const std::string& name) const;
  std::map<std::string, std::vector<double>> samples() const;

  /// The name of the fastest of these variants.
  std::string fastest(const std::vector<std::string>& names) const;
  Estimate compare(const std::string& ours, const std::string& theirs, Statistic statistic) const;

 private:
  struct Variant {
    std::string name;
    Block block;
    int iterations = 1;
    std::vector<double> seconds;
  };
  double measure(Variant& variant);
  void choose_iterations(Variant& variant);

  const Team& team_;
  RoundsOptions options_;
  std::vector<Variant> variants_;
};

}  // namespace bench
