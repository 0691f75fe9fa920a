#include "verify_request.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::tool {
namespace {

constexpr int kMostRanks = 1'000'000;

int read_count(const std::string& word, const std::string& list) {
  int count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc{} || end != word.data() + word.size() || count < 1 || count > kMostRanks)
    throw UsageError(text("--ranks: expected numbers of ranks from 1 on, such as 1,2,4; got '", list, "'"));
  return count;
}

}  // namespace

std::vector<int> read_ranks(const std::string& list) {
  std::vector<int> ranks;
  std::istringstream words(list + ',');
  for (std::string word; std::getline(words, word, ',');) ranks.push_back(read_count(word, list));
  std::ranges::sort(ranks);
  const auto repeated = std::ranges::unique(ranks);
  ranks.erase(repeated.begin(), repeated.end());
  return ranks;
}

std::vector<int> default_ranks(std::size_t cores) {
  std::vector<int> ranks{1, 2};
  while (static_cast<std::size_t>(ranks.back()) * 2 <= cores) ranks.push_back(ranks.back() * 2);
  return ranks;
}

std::vector<std::string> launch_arguments(const VerifyRequest& request, int ranks, std::size_t cores) {
  std::istringstream words(request.launcher.empty() ? "mpirun" : request.launcher);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  if (arguments.empty()) throw UsageError("--mpirun: expected a command such as 'mpirun --oversubscribe', got nothing");
  if (request.launcher.empty() && static_cast<std::size_t>(ranks) > cores) arguments.emplace_back("--oversubscribe");
  arguments.emplace_back("-np");
  arguments.push_back(std::to_string(ranks));
  return arguments;
}

}  // namespace ddpkit::tool
