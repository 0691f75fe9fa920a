#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/comm/agree.hpp"

// The part of require_equal that needs no communicator.

namespace ddpkit {

/// Equal for equal lists of facts, and different for others as far as 64 bits can tell.
std::uint64_t digest_of(std::span<const Fact> facts);

std::string pack_facts(std::span<const Fact> facts);
std::vector<Fact> unpack_facts(std::string_view packed);

/// "ranks 0, 1, 3"
std::string list_ranks(std::span<const int> ranks);

/// `ranks disagree on the model: parameter fc1.weight is "float32 [256, 784]" on ranks 0, 1 and "float32 [128, 784]" on rank
/// 2`. Names the first few facts that differ, in the order in which ranks hold them.
std::string describe_differences(std::string_view subject, std::span<const std::vector<Fact>> by_rank);

}  // namespace ddpkit
