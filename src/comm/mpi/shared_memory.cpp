#include "comm/mpi/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "comm/mpi/check.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {
namespace {

/// A file descriptor that is closed with the scope.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

std::string last_error(std::string_view call) {
  return text(call, ": ", std::generic_category().message(errno));
}

// fallocate takes the pages now: a node without room says so here, and not by a signal at the first write.
int create(std::size_t bytes, std::string& problem) {
  const int file = memfd_create("ddpkit", MFD_CLOEXEC);
  if (file < 0) {
    problem = last_error("memfd_create");
  } else if (const int code = posix_fallocate(file, 0, static_cast<off_t>(bytes)); code != 0) {
    problem = text("posix_fallocate: ", std::generic_category().message(code));
  }
  return file;
}

/// Where the first rank of the node has the memory, and how to tell it from any other file.
struct Owner {
  std::int64_t process = 0;
  std::int64_t file = -1;
  std::int64_t device = 0;
  std::int64_t node = 0;
};

Owner identify(int file) {
  struct stat about {};
  if (fstat(file, &about) != 0) return {};
  return {getpid(), file, static_cast<std::int64_t>(about.st_dev), static_cast<std::int64_t>(about.st_ino)};
}

// Ranks in containers of their own number processes differently: what is found may be somebody else's.
int open_of(const Owner& owner, std::string& problem) {
  const int mine = open(text("/proc/", owner.process, "/fd/", owner.file).c_str(), O_RDWR | O_CLOEXEC);
  if (mine < 0) {
    problem = last_error(text("opening the memory of process ", owner.process));
  } else if (const Owner found = identify(mine); found.device != owner.device || found.node != owner.node) {
    problem = text("process ", owner.process, " is another one here; are the ranks in containers of their own?");
  }
  return mine;
}

std::byte* map(const File& file, std::size_t bytes, std::string& problem) {
  if (!problem.empty()) return nullptr;
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (mapped != MAP_FAILED) return static_cast<std::byte*>(mapped);
  problem = last_error("mmap");
  return nullptr;
}

/// What stopped the lowest rank that could not; empty when all could.
std::string first_problem(MPI_Comm node, const std::string& mine) {
  int rank = 0;
  int ranks = 1;
  check(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(node, &ranks), "MPI_Comm_size");
  int first = mine.empty() ? ranks : rank;
  check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  if (first == ranks) return {};
  std::array<char, 200> words{};
  if (rank == first) mine.copy(words.data(), words.size() - 1);
  check(MPI_Bcast(words.data(), static_cast<int>(words.size()), MPI_CHAR, first, node), "MPI_Bcast");
  return words.data();
}

}  // namespace

SharedMemory share_memory(MPI_Comm node, std::size_t bytes) {
  int rank = 0;
  check(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  SharedMemory memory;
  const int created = rank == 0 ? create(bytes, memory.problem) : -1;
  Owner owner;
  if (rank == 0 && memory.problem.empty()) owner = identify(created);
  check(MPI_Bcast(&owner, sizeof owner, MPI_BYTE, 0, node), "MPI_Bcast");
  const bool theirs = rank != 0 && owner.file >= 0;
  const File file(theirs ? open_of(owner, memory.problem) : created);
  if (rank != 0 && !theirs) memory.problem = "the first rank of the node has none";
  std::byte* mapped = map(file, bytes, memory.problem);
  if (mapped != nullptr) memory.data = {mapped, [bytes](std::byte* data) { munmap(data, bytes); }};
  memory.problem = first_problem(node, memory.problem);  // after it nobody opens the file any more
  if (!memory.problem.empty()) memory.data.reset();
  return memory;
}

}  // namespace ddpkit::mpi
