#include "testing/thread_group.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "comm/fact_table.hpp"
#include "ddpkit/base/text.hpp"
#include "testing/reduce_in_order.hpp"

namespace ddpkit::testing {
namespace {

std::vector<ConstBuffer> inputs_of(const Meeting& meeting) {
  std::vector<ConstBuffer> inputs;
  for (const auto& [rank, contribution] : meeting.arrived) inputs.push_back(contribution.in);
  return inputs;
}

void copy(const void* from, const Buffer& to) {
  if (to.count > 0) std::memmove(to.data, from, to.bytes());
}

void all_reduce(const Meeting& meeting, ReduceOp op) {
  const auto result = reduce_in_order(inputs_of(meeting), op);
  for (const auto& [rank, contribution] : meeting.arrived) copy(result.data(), contribution.out);
}

void reduce_scatter(const Meeting& meeting, ReduceOp op) {
  const auto result = reduce_in_order(inputs_of(meeting), op);
  for (const auto& [rank, contribution] : meeting.arrived)
    copy(result.data() + static_cast<std::size_t>(rank) * contribution.out.bytes(), contribution.out);
}

void all_gather(const Meeting& meeting) {
  std::vector<std::byte> whole;
  for (const auto& [rank, contribution] : meeting.arrived) {
    const auto* part = static_cast<const std::byte*>(contribution.in.data);
    whole.insert(whole.end(), part, part + contribution.in.bytes());
  }
  for (const auto& [rank, contribution] : meeting.arrived) copy(whole.data(), contribution.out);
}

void broadcast(const Meeting& meeting, int root) {
  const void* source = meeting.arrived.at(root).in.data;
  for (const auto& [rank, contribution] : meeting.arrived)
    if (rank != root) copy(source, contribution.out);
}

std::string describe_issue(const Contribution& mine) {
  return mine.tag.empty() ? describe(mine.signature) : text(describe(mine.signature), " (", mine.tag, ")");
}

}  // namespace

void Run::fail(const CommError& error) {
  if (!failure) failure = error;
  changed.notify_all();
}

void ThreadGroup::fail(const CommError& error) {
  run_.fail(error);
  throw error;
}

int ThreadGroup::node_of(int rank) const {
  const int per_node = run_.options.ranks_per_node;
  return per_node > 0 ? members_[static_cast<std::size_t>(rank)] / per_node : 0;
}

Topology ThreadGroup::topology_of(int rank) const {
  Topology topology;
  topology.rank = rank;
  topology.world_size = size();
  topology.local_size = 0;
  std::vector<int> nodes;  // in order of their lowest rank
  for (int other = 0; other < size(); ++other) {
    if (std::find(nodes.begin(), nodes.end(), node_of(other)) == nodes.end()) nodes.push_back(node_of(other));
    if (node_of(other) != node_of(rank)) continue;
    if (other < rank) ++topology.local_rank;
    ++topology.local_size;
  }
  topology.node = static_cast<int>(std::find(nodes.begin(), nodes.end(), node_of(rank)) - nodes.begin());
  topology.node_count = static_cast<int>(nodes.size());
  topology.host = text("thread-node-", node_of(rank));
  return topology;
}

std::shared_ptr<Meeting> ThreadGroup::join(int rank, Contribution mine) {
  const std::lock_guard lock(run_.mutex);
  if (run_.failure) throw *run_.failure;
  const std::uint64_t sequence = ++issued_[static_cast<std::size_t>(rank)];
  auto& slot = open_[sequence];
  if (!slot) slot = std::make_shared<Meeting>();
  const std::shared_ptr<Meeting> meeting = slot;
  meeting->sequence = sequence;
  require_same(rank, *meeting, mine);
  meeting->arrived.emplace(rank, std::move(mine));
  if (static_cast<int>(meeting->arrived.size()) < size()) return meeting;
  open_.erase(sequence);
  carry_out(*meeting);
  for (auto& [other, contribution] : meeting->arrived) contribution.in = contribution.out = {};  // lets go of the memory
  meeting->done = true;
  run_.changed.notify_all();
  return meeting;
}

void ThreadGroup::require_same(int rank, const Meeting& meeting, const Contribution& mine) {
  if (meeting.arrived.empty()) return;
  const auto& [other, theirs] = *meeting.arrived.begin();
  if (theirs.signature == mine.signature) return;
  fail(CommError(text("rank ", rank, " of ", size(), ": ", describe_issue(mine), ", #", meeting.sequence, ", but rank ", other,
                      " issued ", describe_issue(theirs)),
                 ExitStatus::disagree));
}

void ThreadGroup::carry_out(Meeting& meeting) {
  const Signature& signature = meeting.arrived.begin()->second.signature;
  const auto op = static_cast<ReduceOp>(signature.detail);
  switch (signature.kind) {
    case Collective::all_reduce: return all_reduce(meeting, op);
    case Collective::reduce_scatter: return reduce_scatter(meeting, op);
    case Collective::all_gather: return all_gather(meeting);
    case Collective::broadcast: return broadcast(meeting, static_cast<int>(signature.root));
    case Collective::split: return seat_all(meeting);
    case Collective::barrier:
    case Collective::allocate:
    case Collective::close: break;
  }
}

void ThreadGroup::seat_all(Meeting& meeting) {
  std::map<int, std::vector<std::pair<int, int>>> colors;  // of (key, rank)
  for (const auto& [rank, mine] : meeting.arrived)
    if (mine.color >= 0) colors[mine.color].emplace_back(mine.key, rank);
  meeting.seats.resize(members_.size());
  for (auto& [color, places] : colors) {
    std::sort(places.begin(), places.end());
    std::vector<int> members;
    for (const auto& [key, rank] : places) members.push_back(members_[static_cast<std::size_t>(rank)]);
    const auto group = std::make_shared<ThreadGroup>(run_, std::move(members));
    for (std::size_t i = 0; i < places.size(); ++i)
      meeting.seats[static_cast<std::size_t>(places[i].second)] = {group, static_cast<int>(i)};
  }
}

std::vector<int> ThreadGroup::absent(const Meeting& meeting) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank)
    if (!meeting.arrived.contains(rank)) ranks.push_back(rank);
  return ranks;
}

std::vector<int> ThreadGroup::gone(const Meeting& meeting) const {
  std::vector<int> ranks;
  for (const int rank : absent(meeting))
    if (run_.returned.contains(members_[static_cast<std::size_t>(rank)])) ranks.push_back(rank);
  return ranks;
}

void ThreadGroup::wait(int rank, const Meeting& meeting) {
  std::unique_lock lock(run_.mutex);
  const auto over = [&] { return meeting.done || run_.failure || !gone(meeting).empty(); };
  const bool in_time = run_.changed.wait_for(lock, run_.options.timeout, over);
  if (meeting.done) return;
  if (run_.failure) throw *run_.failure;
  if (in_time) fail(CommError(text(describe_wait(rank, meeting), list_ranks(gone(meeting)), " returned without it")));
  fail(CommError(text(describe_wait(rank, meeting), list_ranks(absent(meeting)), " did not come within ",
                      run_.options.timeout.count(), " ms"),
                 ExitStatus::timeout));
}

std::string ThreadGroup::describe_wait(int rank, const Meeting& meeting) const {
  return text("rank ", rank, " of ", size(), ": ", describe_issue(meeting.arrived.at(rank)), ", #", meeting.sequence, ": ");
}

bool ThreadGroup::done(const Meeting& meeting) {
  const std::lock_guard lock(run_.mutex);
  return meeting.done || run_.failure || !gone(meeting).empty();
}

void ThreadGroup::abort(int rank, const Error& reason) {
  const std::lock_guard lock(run_.mutex);
  run_.fail(CommError(text("rank ", rank, " aborted: ", reason.what()), reason.status()));
}

}  // namespace ddpkit::testing
