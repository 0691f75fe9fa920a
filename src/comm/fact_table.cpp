#include "comm/fact_table.hpp"

#define XXH_INLINE_ALL  // no library
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kNamedDifferences = 3;

void append(std::string& packed, std::string_view part) {
  const std::uint64_t length = part.size();
  packed.append(reinterpret_cast<const char*>(&length), sizeof length);
  packed.append(part);
}

std::string take(std::string_view& packed) {
  std::uint64_t length = 0;
  std::memcpy(&length, packed.data(), sizeof length);
  std::string part(packed.substr(sizeof length, length));
  packed.remove_prefix(sizeof length + part.size());
  return part;
}

// Which ranks hold which value of one fact, in order of the lowest rank; no value where a rank lacks the fact.
struct Holding {
  std::optional<std::string> value;
  std::vector<int> ranks;
};

std::vector<Holding> holdings_of(std::span<const std::optional<std::string>> values) {
  std::vector<Holding> holdings;
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    const auto same = [&](const Holding& holding) { return holding.value == values[rank]; };
    auto found = std::find_if(holdings.begin(), holdings.end(), same);
    if (found == holdings.end()) found = holdings.insert(found, {values[rank], {}});
    found->ranks.push_back(static_cast<int>(rank));
  }
  return holdings;
}

std::string describe_holdings(std::string_view name, const std::vector<Holding>& holdings) {
  std::string line(name);
  for (std::size_t i = 0; i < holdings.size(); ++i) {
    const Holding& holding = holdings[i];
    const char* joint = i == 0 ? " is " : i + 1 == holdings.size() ? " and " : ", ";
    line += text(joint, holding.value ? text('"', *holding.value, '"') : "missing", " on ", list_ranks(holding.ranks));
  }
  return line;
}

std::vector<std::string> names_in_order(std::span<const std::vector<Fact>> by_rank) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const auto& facts : by_rank)
    for (const Fact& fact : facts)
      if (seen.insert(fact.name).second) names.push_back(fact.name);
  return names;
}

std::vector<std::string> differences_by_name(std::span<const std::vector<Fact>> by_rank) {
  std::vector<std::map<std::string, std::string>> tables(by_rank.size());
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
    for (const Fact& fact : by_rank[rank]) tables[rank].emplace(fact.name, fact.value);
  std::vector<std::string> lines;
  for (const std::string& name : names_in_order(by_rank)) {
    std::vector<std::optional<std::string>> values;
    for (const auto& table : tables) {
      const auto found = table.find(name);
      values.push_back(found == table.end() ? std::nullopt : std::optional(found->second));
    }
    const auto holdings = holdings_of(values);
    if (holdings.size() > 1) lines.push_back(describe_holdings(name, holdings));
  }
  return lines;
}

// Every rank holds the same facts, but not in the same order or not equally often.
std::string difference_by_place(std::span<const std::vector<Fact>> by_rank) {
  for (std::size_t place = 0;; ++place) {
    std::vector<std::optional<std::string>> names;
    for (const auto& facts : by_rank) names.push_back(place < facts.size() ? std::optional(facts[place].name) : std::nullopt);
    const auto holdings = holdings_of(names);
    if (holdings.size() > 1) return describe_holdings(text("number ", place + 1, " in order"), holdings);
    if (!holdings.front().value) return "a name that stands more than once has other values";
  }
}

}  // namespace

std::string list_ranks(std::span<const int> ranks) {
  std::string list = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) list += text(i == 0 ? "" : ", ", ranks[i]);
  return list;
}

std::uint64_t digest_of(std::span<const Fact> facts) {
  const std::string packed = pack_facts(facts);
  return XXH3_64bits(packed.data(), packed.size());
}

std::string pack_facts(std::span<const Fact> facts) {
  std::string packed;
  for (const Fact& fact : facts) {
    append(packed, fact.name);
    append(packed, fact.value);
  }
  return packed;
}

std::vector<Fact> unpack_facts(std::string_view packed) {
  std::vector<Fact> facts;
  while (!packed.empty()) {
    std::string name = take(packed);
    facts.push_back({std::move(name), take(packed)});
  }
  return facts;
}

std::string describe_differences(std::string_view subject, std::span<const std::vector<Fact>> by_rank) {
  auto lines = differences_by_name(by_rank);
  if (lines.empty()) lines.push_back(difference_by_place(by_rank));
  std::string message = text("ranks disagree on ", subject, ": ");
  const std::size_t named = std::min(lines.size(), kNamedDifferences);
  for (std::size_t i = 0; i < named; ++i) message += text(i == 0 ? "" : "; ", lines[i]);
  if (named < lines.size()) message += text("; and ", lines.size() - named, " more");
  return message;
}

}  // namespace ddpkit
