#include "ddpkit/observe/run_folder.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <set>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/printable.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"

namespace ddpkit {
namespace {

namespace fs = std::filesystem;

std::string user_name() {
  char buffer[4096];
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr) return found->pw_name;
  return text("number ", ::geteuid());
}

[[noreturn]] void refuse_folder(const fs::path& path, std::string_view reason) {
  throw StorageError(text("run folder ", path.string(), ": ", reason, " (as user ", user_name(),
                          "); set run.dir to a folder that this user may write to"));
}

std::string time_stamp(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm fields{};
  ::gmtime_r(&seconds, &fields);
  char stamp[32];
  return {stamp, std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H-%M-%SZ", &fields)};
}

// Two jobs that start in one second get two folders: mkdir tells which of them was first.
fs::path make_fresh_folder(const fs::path& parent, const std::string& stamp) {
  std::error_code failure;
  fs::create_directories(parent, failure);
  if (failure) refuse_folder(parent, failure.message());
  for (int number = 1;; ++number) {
    const fs::path path = parent / (number == 1 ? stamp : text(stamp, '-', number));
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) refuse_folder(path, std::strerror(errno));
  }
}

void point_latest_at(const fs::path& folder, Logger& logger) {
  const fs::path latest = folder.parent_path() / "latest";
  const fs::path fresh = folder.parent_path() / text(".latest-", folder.filename().string());
  std::error_code failure;
  fs::create_symlink(folder.filename(), fresh, failure);
  if (!failure) fs::rename(fresh, latest, failure);
  if (!failure) return;
  logger.warning("run", text(latest.string(), " still points elsewhere: ", failure.message()));
  fs::remove(fresh, failure);
}

// A file that rank 0 leaves in the folder for the others to find.
class Token {
 public:
  explicit Token(const fs::path& folder)
      : path_(folder / text(".seen-by-all-", ::getpid())), content_(text(::getpid(), ' ', std::time(nullptr))) {
    std::ofstream out(path_, std::ios::trunc);
    out << content_ << std::flush;
    if (!out) refuse_folder(folder, "cannot write a file in it");
  }
  ~Token() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  std::string description() const { return text(path_.string(), '\n', content_); }

 private:
  fs::path path_;
  std::string content_;
};

bool finds(std::string_view description) {
  const std::size_t end = description.find('\n');
  std::ifstream in{std::string(description.substr(0, end))};
  std::string content;
  return std::getline(in, content) && content == description.substr(end + 1);
}

void require_seen_by_all(Communicator& comm, const fs::path& folder) {
  std::unique_ptr<Token> token;
  all_or_none(comm, "writing to the run folder", [&] {
    if (comm.rank() == 0) token = std::make_unique<Token>(folder);
  });
  const std::string description = broadcast_text(comm, token ? token->description() : "");
  const auto blind = gather_texts(comm, finds(description) ? "" : comm.topology().host + '\n');
  std::string hosts;
  for (const std::string& host : std::set<std::string>(blind.begin(), blind.end()))
    if (!host.empty()) hosts += text(hosts.empty() ? "" : ", ", std::string_view(host).substr(0, host.size() - 1));
  if (!hosts.empty())
    throw on_all_ranks(
        StorageError(text("run folder ", folder.string(), ": rank 0 wrote to it, but it is not the same folder on ", hosts,
                          "; set run.dir to a file system that all hosts share")));
}

void remove_unused(const Communicator& comm, const fs::path& folder) {
  std::error_code ignored;
  if (comm.rank() == 0) fs::remove(folder, ignored);
}

}  // namespace

void check_run_name(std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    throw ConfigError(text("run.name: \"", printable(name), "\" ", why, "; it becomes the name of a folder below run.dir"));
  };
  if (name.empty()) refuse("is empty");
  if (name.size() > 200) refuse("is longer than 200 bytes");
  if (name.find('/') != std::string_view::npos) refuse("contains a slash");
  if (name.front() == '.') refuse("begins with a dot");
  if (printable(name) != name) refuse("contains control characters or is not UTF-8");
}

RunFolder create_run_folder(Communicator& comm, const RunPlace& place, Logger& logger, const Clock& clock) {
  fs::path folder;
  all_or_none(comm, "making the run folder", [&] {
    if (comm.rank() != 0) return;
    check_run_name(place.name);
    folder = make_fresh_folder(fs::absolute(place.dir).lexically_normal() / place.name, time_stamp(clock.wall()));
  });
  folder = broadcast_text(comm, folder.string());
  try {
    require_seen_by_all(comm, folder);
  } catch (const StorageError&) {
    remove_unused(comm, folder);
    throw;
  }
  if (comm.rank() == 0) point_latest_at(folder, logger);
  return RunFolder(folder);
}

RunFolder reopen_run_folder(Communicator& comm, const std::filesystem::path& path) {
  const fs::path folder = broadcast_text(comm, fs::absolute(path).lexically_normal().string());
  all_or_none(comm, "reopening the run folder", [&] {
    std::error_code unreadable;
    if (comm.rank() == 0 && !fs::is_directory(folder, unreadable))
      throw StorageError(text("run folder ", folder.string(), ": no such folder; is run.resume right?"));
  });
  require_seen_by_all(comm, folder);
  return RunFolder(folder);
}

}  // namespace ddpkit
