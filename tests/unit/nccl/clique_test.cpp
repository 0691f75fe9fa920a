#include "comm/nccl/clique.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/nccl_world.hpp"

using namespace ddpkit;
using namespace ddpkit::nccl;
using ddpkit::testing::message_of_throw;

namespace {

std::vector<Member> members_on(const std::vector<std::string>& machines) {
  std::vector<Member> members;
  for (std::size_t rank = 0; rank < machines.size(); ++rank)
    members.push_back({.host = "host-" + machines[rank], .machine = machines[rank], .bus_id = std::to_string(rank)});
  return members;
}

}  // namespace

TEST_CASE("a member survives the way through text") {
  const Member member{.host = "n1", .machine = "boot 5", .bus_id = "0000:01:00.0", .unique_id = "00ff", .failure = "no GPU"};
  const Member back = parse_member(0, to_text(member));
  CHECK(back.host == member.host);
  CHECK(back.machine == member.machine);
  CHECK(back.bus_id == member.bus_id);
  CHECK(back.unique_id == member.unique_id);
  CHECK(back.failure == member.failure);
}

TEST_CASE("what is no member is refused with its rank") {
  for (const std::string& wrong :
       {std::string(), std::string("hello"), std::string("ddpkit-nccl-member-1\nhost\n"), "x" + to_text(Member{.host = "n1"})})
    CHECK_THAT(message_of_throw([&] { parse_member(5, wrong); }), Catch::Contains("rank 5"));
}

TEST_CASE("equal bus ids on different machines are different devices") {
  std::vector<Member> members = members_on({"a", "b"});
  members[1].bus_id = members[0].bus_id;
  CHECK_NOTHROW(require_usable(members));
  members[1].machine = "a";
  CHECK_THROWS_AS(require_usable(members), CommError);
}

TEST_CASE("nodes are numbered by their lowest rank, and ranks within them") {
  const std::vector<Member> members = members_on({"b", "a", "b", "a", "a"});
  const Topology third = topology_among(members, 3);
  CHECK(third.rank == 3);
  CHECK(third.world_size == 5);
  CHECK(third.node == 1);
  CHECK(third.node_count == 2);
  CHECK(third.local_rank == 1);
  CHECK(third.local_size == 3);
  CHECK(third.host == "host-a");
  CHECK(topology_among(members, 2).node == 0);
  CHECK(topology_among(members, 2).local_rank == 1);
}

TEST_CASE("a split orders by key, then by former rank") {
  const std::vector<SplitWish> wishes{{0, 5}, {1, 0}, {0, 1}, {0, 1}, {1, -3}};
  CHECK(members_of_split(wishes, 0) == std::vector{2, 3, 0});
  CHECK(members_of_split(wishes, 1) == std::vector{4, 1});
}

TEST_CASE("bytes go through hexadecimal digits and nothing else does") {
  const std::string bytes("\0\x7f\xff", 3);
  CHECK(to_hex(bytes.data(), 3) == "007fff");
  std::string back(3, 'x');
  CHECK(from_hex("007fff", back.data(), 3));
  CHECK(back == bytes);
  for (const char* wrong : {"", "007ff", "007fff0", "007ffg", "007FFF"}) CHECK_FALSE(from_hex(wrong, back.data(), 3));
}
