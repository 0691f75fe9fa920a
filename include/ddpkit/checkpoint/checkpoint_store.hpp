#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ddpkit/checkpoint/checkpoint.hpp"
#include "ddpkit/checkpoint/checkpoint_content.hpp"
#include "ddpkit/checkpoint/checkpoint_options.hpp"

namespace ddpkit {

/// The newest checkpoint that can be trusted, and why others cannot.
struct LatestCheckpoint {
  std::optional<Checkpoint> checkpoint;  ///< empty: there is none
  std::vector<std::string> problems;     ///< one line for each damaged checkpoint that is newer or of unknown age
};

/// A folder of checkpoints, `step-00000120` and so on. A checkpoint is there completely or not at all, whenever the process is
/// killed or the disk fills up: it is written and synced under a hidden name, then renamed.
///
/// Not collective: one process writes (rank 0), any may read. One writer per folder. Not thread-safe. Blocks for the disk.
class CheckpointStore {
 public:
  /// Touches nothing; the first save makes the folder.
  CheckpointStore(std::filesystem::path folder, const CheckpointOptions& options);

  /// Publishes a checkpoint and returns its path, then deletes what the options no longer keep, the newest never. One of the
  /// same step is replaced. What killed saves left behind is removed first. Throws StorageError, with every earlier checkpoint
  /// as it was; UsageError when the content cannot be written as it is.
  std::filesystem::path save(const CheckpointContent& content);

  /// The checkpoint saved last, or the one before when it is damaged, and so on. Reads every byte of what it returns.
  /// Throws StorageError only when the folder cannot be listed.
  LatestCheckpoint latest_valid() const;

  /// The checkpoint marked best that was saved last, or none.
  LatestCheckpoint best_valid() const;

  const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  std::filesystem::path folder_;
  CheckpointOptions options_;
};

}  // namespace ddpkit
