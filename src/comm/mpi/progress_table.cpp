#include "comm/mpi/progress_table.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "comm/fact_table.hpp"
#include "comm/mpi/check.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {
namespace {

std::uint64_t pack(const Signature& signature) noexcept {
  return static_cast<std::uint64_t>(signature.root) << 32 | static_cast<std::uint64_t>(signature.kind) << 16 |
         static_cast<std::uint64_t>(signature.dtype) << 8 | signature.detail;
}

Signature unpack(std::uint64_t what, std::uint64_t count) noexcept {
  return {static_cast<Collective>(what >> 16 & 0xff), static_cast<DType>(what >> 8 & 0xff), static_cast<std::uint8_t>(what),
          static_cast<std::uint32_t>(what >> 32), count};
}

// Memory without a name: it is not limited by the size of /dev/shm and vanishes with the last process, however that ends.
int open_shared(MPI_Comm node, int rank, std::size_t bytes) {
  std::array<int, 2> owner = {};  // process and descriptor
  int file = -1;
  if (rank == 0) {
    file = memfd_create("ddpkit-progress", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) != 0) file = -1;
    owner = {getpid(), file};
  }
  check(MPI_Bcast(owner.data(), 2, MPI_INT, 0, node), "MPI_Bcast");
  if (rank == 0 || owner[1] < 0) return file;
  return open(text("/proc/", owner[0], "/fd/", owner[1]).c_str(), O_RDWR | O_CLOEXEC);
}

}  // namespace

ProgressTable::ProgressTable(MPI_Comm node, std::vector<int> members, int world_size)
    : members_(std::move(members)), world_size_(world_size) {
  int rank = 0;
  check(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  if (map_shared(node, sizeof(Row) * members_.size())) {
    mine_ = static_cast<std::size_t>(rank);
  } else {
    rows_ = std::make_shared<Row>();
    members_ = {members_[static_cast<std::size_t>(rank)]};
  }
}

bool ProgressTable::map_shared(MPI_Comm node, std::size_t bytes) {
  int rank = 0;
  check(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  const int file = open_shared(node, rank, bytes);
  void* mapped = file < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int everywhere = mapped != MAP_FAILED ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  if (file >= 0) close(file);  // the mapping stays; after the reduction nobody opens it any more
  const auto unmap = [bytes](Row* rows) { munmap(rows, bytes); };
  if (mapped != MAP_FAILED) rows_ = std::shared_ptr<Row>(static_cast<Row*>(mapped), unmap);
  return everywhere != 0;
}

// The order of the stores lets a reader tell a finished row from one in the middle: `what` belongs to `entered` while `left` is
// smaller. Sequential consistency makes the later of two ranks see the earlier.
void ProgressTable::enter(std::uint64_t sequence, const Signature& signature) noexcept {
  if (!rows_) return;
  Row& row = rows_.get()[mine_];
  row.what = pack(signature);
  row.count = signature.count;
  row.entered = sequence;
}

void ProgressTable::leave(std::uint64_t sequence) noexcept {
  if (rows_) rows_.get()[mine_].left = sequence;
}

std::optional<Signature> ProgressTable::in_progress(std::size_t member, std::uint64_t sequence) const noexcept {
  const Row& row = rows_.get()[member];
  if (row.entered != sequence) return std::nullopt;
  const Signature signature = unpack(row.what, row.count);
  if (row.left >= sequence) return std::nullopt;
  return signature;
}

std::string ProgressTable::describe_mismatch(std::uint64_t sequence, const Signature& signature) const {
  std::string list;
  for (std::size_t i = 0; i < members_.size() && rows_; ++i) {
    const auto other = in_progress(i, sequence);
    if (other && *other != signature)
      list += text(list.empty() ? "" : ", ", "rank ", members_[i], " issued ", describe(*other));
  }
  return list;
}

std::string ProgressTable::describe_absent(std::uint64_t sequence) const {
  if (!rows_) return "nothing is known of the other ranks yet";
  std::string list;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::uint64_t entered = rows_.get()[i].entered;
    if (entered >= sequence) continue;
    list += text(list.empty() ? "" : ", ", "rank ", members_[i], " has not come (its last operation here: ");
    list += entered == 0 ? "none)" : text("#", entered, ")");
  }
  if (list.empty()) list = "every rank that can be seen from here has come";
  std::vector<int> unknown;
  for (int rank = 0; rank < world_size_; ++rank)
    if (!std::binary_search(members_.begin(), members_.end(), rank)) unknown.push_back(rank);
  if (!unknown.empty()) list += text("; nothing is known of ", list_ranks(unknown));
  return list;
}

}  // namespace ddpkit::mpi
