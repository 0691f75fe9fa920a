#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ddpkit/base/log.hpp"
#include "ddpkit/base/quantity.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// What the tensors of one rank may take, in bytes; 0 where it is not known.
struct MemoryShare {
  std::int64_t limit = 0;
  std::int64_t available = 0;  ///< on its node or device, as the job starts
  std::int64_t sharers = 1;    ///< ranks that have to do with `available`

  std::int64_t fair() const noexcept { return available / sharers; }
};

/// The limit that was asked for, or else the fair share. Pure.
MemoryShare share_memory(std::optional<Bytes> wanted, std::optional<std::int64_t> available, std::int64_t sharers);

/// "memory: 11.2 GiB for tensors of each of 2 ranks (available 22.4 GiB)"; where ranks differ much, the least and whose it is.
std::string memory_line(std::span<const MemoryShare> shares);

/// A sentence about the first rank that may take more than its fair share; empty when none may.
std::string memory_warning(std::span<const MemoryShare> shares);

/// Limits the tensors of every rank on its device, and says so. Collective.
void limit_memory(Communicator& control, std::optional<Bytes> wanted, c10::Device device, Logger& log);

}  // namespace ddpkit
