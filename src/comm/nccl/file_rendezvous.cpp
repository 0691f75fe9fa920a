#include "comm/nccl/file_rendezvous.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "comm/nccl/patience.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {
namespace {
constexpr std::chrono::milliseconds kLookAgain{10};  // kind to a file server
}

FileRendezvous::~FileRendezvous() {
  std::error_code ignored;
  if (published_) std::filesystem::remove(file_of(options_.rank), ignored);
}

std::filesystem::path FileRendezvous::file_of(int rank) const {
  return options_.folder / text("ddpkit-rank-", rank, "-of-", options_.world_size);
}

std::vector<std::string> FileRendezvous::meet(const std::string& mine) {
  publish(mine);
  std::vector<std::string> texts(static_cast<std::size_t>(options_.world_size));
  std::vector<int> missing;
  for (int rank = 0; rank < options_.world_size; ++rank) missing.push_back(rank);
  Patience patience(options_.timeout, kLookAgain);
  for (;;) {
    std::erase_if(missing, [&](int rank) { return read(rank, texts[static_cast<std::size_t>(rank)]); });
    if (missing.empty()) return texts;
    if (!patience.pause()) break;
  }
  const std::string strangers = strangers_.empty() ? ""
                                                   : text("; the files of ", name_ranks(strangers_, options_.world_size),
                                                          " are of another job than '", options_.job, "'");
  throw CommError(
      text("rank ", options_.rank, ": rendezvous in ", options_.folder.string(), ": ", name_ranks(missing, options_.world_size),
           " did not come within ", options_.timeout.count(), " ms", strangers),
      ExitStatus::timeout);
}

void FileRendezvous::publish(const std::string& mine) {
  const std::filesystem::path file = file_of(options_.rank);
  const std::filesystem::path unfinished = text(file.string(), ".", getpid());
  std::ofstream(unfinished, std::ios::binary) << options_.job << '\n' << mine;
  std::error_code error;
  // A full disk shows in the size: a stream's failure is not kept by a temporary.
  const bool whole = std::filesystem::file_size(unfinished, error) == options_.job.size() + 1 + mine.size() && !error;
  if (whole) std::filesystem::rename(unfinished, file, error);
  if (!whole || error) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    throw StorageError(text("rank ", options_.rank, ": rendezvous: cannot write ", file.string(), ": ",
                            error ? error.message() : "the disk is full"));
  }
  published_ = true;
}

bool FileRendezvous::read(int rank, std::string& text) {
  std::ifstream file(file_of(rank), std::ios::binary);
  std::string job;
  if (!std::getline(file, job)) return false;
  if (job != options_.job) {
    if (std::find(strangers_.begin(), strangers_.end(), rank) == strangers_.end()) strangers_.push_back(rank);
    return false;
  }
  std::erase(strangers_, rank);
  text.assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

}  // namespace ddpkit::nccl
