#include "comm/nccl/clique.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {
namespace {

constexpr std::string_view kGreeting = "ddpkit-nccl-member-1";

int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::string to_text(const Member& member) {
  return text(kGreeting, "\n", one_line(member.host), "\n", one_line(member.machine), "\n", one_line(member.bus_id), "\n",
              one_line(member.unique_id), "\n", one_line(member.failure), "\n");
}

Member parse_member(int rank, const std::string& text) {
  std::istringstream lines(text);
  std::string greeting;
  Member member;
  std::getline(lines, greeting);
  for (std::string* field : {&member.host, &member.machine, &member.bus_id, &member.unique_id, &member.failure})
    std::getline(lines, *field);
  if (greeting != kGreeting || !lines)
    throw CommError(ddpkit::text("what came from rank ", rank, " is not a greeting of this version of ddpkit (", text.size(),
                                 " bytes); do all ranks run the same program?"),
                    ExitStatus::disagree);
  return member;
}

void require_usable(std::span<const Member> members) {
  std::map<std::string, std::size_t> taken;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const Member& member = members[rank];
    if (!member.failure.empty())
      throw on_all_ranks(
          CommError(text("rank ", rank, " on ", member.host, " cannot use its GPU: ", member.failure), ExitStatus::config));
    const auto [first, fresh] = taken.try_emplace(text(member.machine, " ", member.bus_id), rank);
    if (!fresh)
      throw on_all_ranks(
          CommError(text("ranks ", first->second, " and ", rank, " both use GPU ", member.bus_id, " of ", member.host,
                         "; NCCL wants one rank per GPU: start at most as many ranks on a host as it has GPUs, and ",
                         "let every rank see all of them (CUDA_VISIBLE_DEVICES)"),
                    ExitStatus::config));
  }
}

Topology topology_among(std::span<const Member> members, int rank) {
  Topology topology;
  topology.rank = rank;
  topology.world_size = static_cast<int>(members.size());
  topology.host = members[static_cast<std::size_t>(rank)].host;
  topology.local_size = 0;
  std::map<std::string, int> nodes;  // machine -> number, in order of the lowest rank
  for (int other = 0; other < topology.world_size; ++other) {
    const std::string& machine = members[static_cast<std::size_t>(other)].machine;
    const int node = nodes.try_emplace(machine, static_cast<int>(nodes.size())).first->second;
    if (machine != members[static_cast<std::size_t>(rank)].machine) continue;
    topology.node = node;
    topology.local_rank += other < rank ? 1 : 0;
    ++topology.local_size;
  }
  topology.node_count = static_cast<int>(nodes.size());
  return topology;
}

std::vector<int> members_of_split(std::span<const SplitWish> wishes, int rank) {
  std::vector<int> members;
  for (std::size_t other = 0; other < wishes.size(); ++other)
    if (wishes[other].color == wishes[static_cast<std::size_t>(rank)].color) members.push_back(static_cast<int>(other));
  std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
    return wishes[static_cast<std::size_t>(a)].key < wishes[static_cast<std::size_t>(b)].key;
  });
  return members;
}

std::string to_hex(const void* bytes, std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (const auto* byte = static_cast<const unsigned char*>(bytes); size > 0; ++byte, --size) {
    digits += kDigits[*byte >> 4];
    digits += kDigits[*byte & 15];
  }
  return digits;
}

bool from_hex(const std::string& digits, void* bytes, std::size_t size) {
  if (digits.size() != 2 * size) return false;
  auto* out = static_cast<unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i) {
    const int high = digit_value(digits[2 * i]);
    const int low = digit_value(digits[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return true;
}

}  // namespace ddpkit::nccl
