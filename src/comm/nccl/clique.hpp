#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/base/topology.hpp"

namespace ddpkit::nccl {

/// What the ranks tell each other before NCCL stands.
struct Member {
  std::string host{};       ///< name, for people
  std::string machine{};    ///< what tells machines apart: names may repeat, containers have their own
  std::string bus_id{};     ///< PCI bus id of the rank's device
  std::string unique_id{};  ///< rank 0's ncclUniqueId in hexadecimal digits, else empty
  std::string failure{};    ///< why this rank cannot take part, else empty
};

/// One text per member, for a Rendezvous; `parse_member` throws CommError on anything else, naming `rank`.
std::string to_text(const Member& member);
Member parse_member(int rank, const std::string& text);

/// Throws CommError, alike on all ranks, when a rank has failed or two ranks have the same device.
void require_usable(std::span<const Member> members);

/// Where `rank` stands among processes on these machines.
Topology topology_among(std::span<const Member> members, int rank);

/// What a rank wants from a split.
struct SplitWish {
  std::int64_t color = 0;
  std::int64_t key = 0;
};

/// The former ranks with the colour of `rank`, in their new order: by key, then by former rank.
std::vector<int> members_of_split(std::span<const SplitWish> wishes, int rank);

/// Bytes as hexadecimal digits and back; false when `digits` are not exactly `size` bytes.
std::string to_hex(const void* bytes, std::size_t size);
bool from_hex(const std::string& digits, void* bytes, std::size_t size);

}  // namespace ddpkit::nccl
