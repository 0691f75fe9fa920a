#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/observe/metric_record.hpp"

namespace ddpkit {

/// Metrics as numerator and denominator, summed in double. A value is the sum of the one over the sum of the other, so that
/// neither the size of a batch nor the share of a rank changes it; a mean of means never arises. Not thread-safe.
class Tally {
 public:
  /// Adds to the metric of this name: `add("accuracy", right, rows)`, `add("loss", mean * rows, rows)`.
  void add(std::string_view name, double numerator, double denominator);

  /// Adds all of another tally.
  void merge(const Tally& other);

  /// Replaces the sums by those over all ranks. Collective and synchronous: one exchange of the names, one all_reduce. Ranks
  /// may hold different names, or none because they had no rows: every rank ends with all of them, in one order.
  void reduce(Communicator& comm);

  /// Numerator / denominator; NaN where nothing was counted. Throws UsageError for a name that was never added.
  double value(std::string_view name) const;

  /// All values, in the order in which the names came up.
  std::vector<Metric> values() const;

  void clear() { entries_.clear(); }

 private:
  struct Entry {
    std::string name;
    double numerator = 0;
    double denominator = 0;
  };
  const Entry* find(std::string_view name) const;
  Entry& entry(std::string_view name);

  std::vector<Entry> entries_;
};

}  // namespace ddpkit
