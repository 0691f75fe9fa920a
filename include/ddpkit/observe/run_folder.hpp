#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "ddpkit/base/log.hpp"
#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/observe/clock.hpp"

namespace ddpkit {

/// Where a run keeps its files. Rank 0 writes them.
class RunFolder {
 public:
  RunFolder() = default;
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path config() const { return path_ / "config.yaml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path ladder() const { return path_ / "ladder.jsonl"; }  ///< rungs taken when memory ran out
  std::filesystem::path log() const { return path_ / "log.txt"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

 private:
  std::filesystem::path path_;
};

/// Where a new run folder shall lie.
struct RunPlace {
  std::filesystem::path dir = "runs";
  std::string name = "run";
};

/// Throws ConfigError for a run name that cannot be the name of one folder: empty, longer than 200 bytes, with a slash or a
/// control character, not UTF-8, or beginning with a dot.
void check_run_name(std::string_view name);

/// Makes `dir/name/<time>` (UTC, "2026-11-30T14-27-03Z", with "-2" and so on when taken), points `dir/name/latest` at it in one
/// atomic step, and checks that every rank sees it. Collective and synchronous; all ranks get the same absolute path, rank 0's.
///
/// On rank 0 throws ConfigError for a bad name, and StorageError, naming path and user, when it may not make the folder; the
/// other ranks then throw CommError with the same status. Throws StorageError on every rank, naming the hosts, when some do not
/// see rank 0's folder. A `latest` that cannot be replaced is a warning.
RunFolder create_run_folder(Communicator& comm, const RunPlace& place, Logger& logger, const Clock& clock = {});

/// An existing folder to go on in: checks as above that every rank sees rank 0's `path`. Collective and synchronous. Throws
/// StorageError when it does not exist or cannot be written to.
RunFolder reopen_run_folder(Communicator& comm, const std::filesystem::path& path);

}  // namespace ddpkit
