#include "ddpkit/observe/tally.hpp"

#include <algorithm>
#include <span>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"

namespace ddpkit {
namespace {

constexpr char kSeparator = '\0';

std::vector<std::string_view> split(std::string_view joined) {
  std::vector<std::string_view> names;
  while (!joined.empty()) {
    const std::size_t end = joined.find(kSeparator);
    names.push_back(joined.substr(0, end));
    joined.remove_prefix(end + 1);
  }
  return names;
}

}  // namespace

void Tally::add(std::string_view name, double numerator, double denominator) {
  Entry& sums = entry(name);
  sums.numerator += numerator;
  sums.denominator += denominator;
}

void Tally::merge(const Tally& other) {
  for (const Entry& theirs : other.entries_) add(theirs.name, theirs.numerator, theirs.denominator);
}

void Tally::reduce(Communicator& comm) {
  std::string mine;
  for (const Entry& held : entries_) mine += held.name + kSeparator;
  Tally all;
  for (const std::string& joined : gather_texts(comm, mine))
    for (const std::string_view name : split(joined)) all.entry(name);
  all.merge(*this);

  std::vector<double> sums;
  for (const Entry& held : all.entries_) sums.insert(sums.end(), {held.numerator, held.denominator});
  comm.all_reduce(std::span(sums), ReduceOp::sum, "metrics").wait();
  for (std::size_t i = 0; i < all.entries_.size(); ++i) {
    all.entries_[i].numerator = sums[2 * i];
    all.entries_[i].denominator = sums[2 * i + 1];
  }
  *this = std::move(all);
}

double Tally::value(std::string_view name) const {
  const Entry* sums = find(name);
  if (sums == nullptr) throw UsageError(text("Tally::value: nothing was ever added under the name ", name));
  return sums->numerator / sums->denominator;  // 0 / 0 is the NaN that the contract promises
}

std::vector<Metric> Tally::values() const {
  std::vector<Metric> out;
  for (const Entry& held : entries_) out.push_back({held.name, value(held.name)});
  return out;
}

const Tally::Entry* Tally::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& held) { return held.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

Tally::Entry& Tally::entry(std::string_view name) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& held) { return held.name == name; });
  return found == entries_.end() ? entries_.emplace_back(Entry{std::string(name)}) : *found;
}

}  // namespace ddpkit
