#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/estimate.hpp"
#include "place.hpp"

namespace bench {

/// Does its work so many times and returns how long that took, in seconds.
using TimedBlock = std::function<double(int iterations)>;

/// Variants of the same work on one device, measured in turn: in each round every variant runs one block, the first one being
/// another in each round. The device is idle when a block begins and when its clock stops.
class Turns {
 public:
  Turns(const Place& place, int iterations, int rounds)
      : place_(place), iterations_(place.rehearsal() ? 1 : iterations), rounds_(place.rehearsal() ? 1 : rounds) {}

  void add(std::string name, std::function<void()> body);
  void add_block(std::string name, TimedBlock block) { variants_.push_back({std::move(name), std::move(block), {}}); }
  void run();

  const std::vector<double>& seconds(const std::string& name) const;  ///< per iteration, one for each round
  double median_of(const std::string& name) const { return median(seconds(name)); }
  Estimate compare(const std::string& ours, const std::string& theirs, Statistic statistic) const {
    return estimate(seconds(ours), seconds(theirs), statistic);
  }
  std::map<std::string, std::vector<double>> samples() const;

 private:
  struct Variant {
    std::string name;
    TimedBlock block;
    std::vector<double> seconds;
  };

  Place place_;
  int iterations_;
  int rounds_;
  std::vector<Variant> variants_;
};

}  // namespace bench
