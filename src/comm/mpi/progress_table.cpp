#include "comm/mpi/progress_table.hpp"

#include <algorithm>

#include "comm/fact_table.hpp"
#include "comm/mpi/packed_signature.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {

ProgressTable::ProgressTable(std::shared_ptr<std::byte> memory, std::vector<int> members, std::size_t mine, int world_size)
    : rows_(memory, reinterpret_cast<Row*>(memory.get())), mine_(mine), members_(std::move(members)), world_size_(world_size) {
  if (rows_) return;
  rows_ = std::make_shared<Row>();
  members_ = {members_[mine_]};
  mine_ = 0;
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
