#include "ddpkit/comm/agree.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "comm/fact_table.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

std::int64_t reduce_value(Communicator& comm, std::int64_t mine, ReduceOp op, std::string_view tag) {
  comm.all_reduce(std::span(&mine, 1), op, tag).synchronize();
  return mine;
}

std::span<std::uint8_t> as_bytes(std::string& characters) {
  return {reinterpret_cast<std::uint8_t*>(characters.data()), characters.size()};
}

std::vector<std::int64_t> gather_values(Communicator& comm, std::int64_t mine, std::string_view tag) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(comm.world_size()));
  comm.all_gather(std::span<const std::int64_t>(&mine, 1), std::span(all), tag).synchronize();
  return all;
}

}  // namespace

bool agree_any(Communicator& comm, bool mine, std::string_view tag) {
  return reduce_value(comm, mine ? 1 : 0, ReduceOp::max, tag) != 0;
}

bool agree_all(Communicator& comm, bool mine, std::string_view tag) {
  return reduce_value(comm, mine ? 1 : 0, ReduceOp::min, tag) != 0;
}

std::int64_t agree_min(Communicator& comm, std::int64_t mine, std::string_view tag) {
  return reduce_value(comm, mine, ReduceOp::min, tag);
}

std::int64_t agree_max(Communicator& comm, std::int64_t mine, std::string_view tag) {
  return reduce_value(comm, mine, ReduceOp::max, tag);
}

std::string broadcast_text(Communicator& comm, std::string_view mine, int root) {
  auto length = static_cast<std::int64_t>(mine.size());
  comm.broadcast(std::span(&length, 1), root, "broadcast_text, length").synchronize();
  std::string received(comm.rank() == root ? mine : std::string_view());
  received.resize(static_cast<std::size_t>(length));
  comm.broadcast(as_bytes(received), root, "broadcast_text").synchronize();
  return received;
}

std::vector<std::string> gather_texts(Communicator& comm, std::string_view mine) {
  const auto lengths = gather_values(comm, static_cast<std::int64_t>(mine.size()), "gather_texts, lengths");
  const auto longest = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::string padded(mine);
  padded.resize(longest);
  std::string all(longest * lengths.size(), '\0');
  comm.all_gather(ConstBuffer(std::span<const std::uint8_t>(as_bytes(padded))), as_bytes(all), "gather_texts").synchronize();
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank)
    texts.push_back(all.substr(rank * longest, static_cast<std::size_t>(lengths[rank])));
  return texts;
}

void require_equal(Communicator& comm, std::string_view subject, std::span<const Fact> facts) {
  const auto digests = gather_values(comm, static_cast<std::int64_t>(digest_of(facts)), subject);
  const bool equal = std::adjacent_find(digests.begin(), digests.end(), std::not_equal_to<>()) == digests.end();
  if (equal) return;
  std::vector<std::vector<Fact>> by_rank;
  for (const std::string& packed : gather_texts(comm, pack_facts(facts))) by_rank.push_back(unpack_facts(packed));
  throw on_all_ranks(CommError(describe_differences(subject, by_rank), ExitStatus::disagree));
}

namespace detail {

void share_outcome(Communicator& comm, std::string_view what, const Error* mine) {
  const int own = mine != nullptr ? comm.rank() : comm.world_size();
  const auto failed = static_cast<int>(agree_min(comm, own, what));
  if (failed == comm.world_size()) return;
  const auto status = static_cast<std::int64_t>(mine != nullptr ? mine->status() : ExitStatus::ok);
  const std::int64_t shared_status = gather_values(comm, status, what)[static_cast<std::size_t>(failed)];
  const std::string reason = broadcast_text(comm, mine != nullptr ? mine->what() : "", failed);
  if (mine != nullptr) return;  // the caller rethrows its own
  throw on_all_ranks(CommError(text(what, " failed on rank ", failed, ": ", reason), static_cast<ExitStatus>(shared_status)));
}

}  // namespace detail
}  // namespace ddpkit
