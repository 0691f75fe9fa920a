#pragma once

#include <chrono>
#include <filesystem>

#include "comm/nccl/rendezvous.hpp"

namespace ddpkit::nccl {

/// Through files in a folder that all ranks see: each rank writes one, whole or not at all, and reads the others'. It removes
/// its own when it dies, so keep it until the ranks have met by other means.
class FileRendezvous final : public Rendezvous {
 public:
  struct Options {
    std::filesystem::path folder;
    std::string job;  ///< differs from run to run, so that files left by a killed one are not taken for this one's
    int rank = 0;
    int world_size = 1;
    std::chrono::milliseconds timeout{0};
  };

  explicit FileRendezvous(Options options) : options_(std::move(options)) {}
  ~FileRendezvous() override;
  FileRendezvous(const FileRendezvous&) = delete;
  FileRendezvous& operator=(const FileRendezvous&) = delete;

  int rank() const override { return options_.rank; }
  int world_size() const override { return options_.world_size; }

  /// Throws StorageError when the folder cannot be written.
  std::vector<std::string> meet(const std::string& mine) override;

 private:
  std::filesystem::path file_of(int rank) const;
  void publish(const std::string& mine);
  bool read(int rank, std::string& text);

  Options options_;
  bool published_ = false;
  std::vector<int> strangers_;  // ranks whose file is of another job
};

}  // namespace ddpkit::nccl
