#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ddpkit::nccl {

/// What an error message tells about a collective.
struct Operation {
  std::string_view name;  ///< a literal: "all_reduce"
  std::uint64_t sequence = 0;
  std::size_t bytes = 0;
  std::string tag{};
};

/// "rank 3: all_reduce #128 (bucket 4, fc2.weight..fc3.bias), 1048576 bytes"
std::string describe(int rank, const Operation& operation);

}  // namespace ddpkit::nccl
