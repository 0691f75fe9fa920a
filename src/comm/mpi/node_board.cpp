#include "comm/mpi/node_board.hpp"

#include <algorithm>

#include "comm/mpi/packed_signature.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {

std::size_t NodeBoard::bytes(std::size_t ranks) {
  return ranks * sizeof(Row);
}

NodeBoard::NodeBoard(std::shared_ptr<std::byte> memory, std::vector<int> members, std::size_t mine)
    : rows_(memory, reinterpret_cast<Row*>(memory.get())), members_(std::move(members)), mine_(mine) {}

void NodeBoard::arrive(std::uint64_t number, const Signature& signature, Place place) noexcept {
  Entry& entry = rows_.get()[mine_].entries[number % kOutstanding];
  entry.what = pack(signature);
  entry.count = signature.count;
  entry.place = place;
  entry.number.store(number, std::memory_order_release);
}

void NodeBoard::leave(std::uint64_t number) noexcept {
  rows_.get()[mine_].left.store(number, std::memory_order_release);
}

bool NodeBoard::all_arrived(std::uint64_t number) const noexcept {
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    if (entry(rank, number).number.load(std::memory_order_acquire) != number) return false;
  return true;
}

std::uint64_t NodeBoard::left_by_all() const noexcept {
  std::uint64_t left = rows_.get()[0].left.load(std::memory_order_acquire);
  for (std::size_t rank = 1; rank < ranks(); ++rank)
    left = std::min(left, rows_.get()[rank].left.load(std::memory_order_acquire));
  return left;
}

bool NodeBoard::alike(std::size_t rank, std::uint64_t number) const noexcept {
  const Entry& own = entry(mine_, number);
  const Entry& other = entry(rank, number);
  return other.what == own.what && other.count == own.count && other.place.block == own.place.block;
}

bool NodeBoard::all_alike(std::uint64_t number) const noexcept {
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    if (!alike(rank, number)) return false;
  return true;
}

std::string NodeBoard::describe_mismatch(std::uint64_t number) const {
  const Entry& own = entry(mine_, number);
  std::string list;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (alike(rank, number)) continue;
    const Entry& other = entry(rank, number);
    list += text(list.empty() ? "" : ", ", "rank ", members_[rank]);
    if (other.what != own.what || other.count != own.count)
      list += text(" issued ", describe(unpack(other.what, other.count)));
    else if (other.place.block == 0)
      list += " passed memory that is not from allocate() here; all ranks pass memory of one allocation, or none does";
    else
      list += text(" passed memory of allocation ", other.place.block, ", and this one ",
                   own.place.block == 0 ? "none from allocate()" : text("of allocation ", own.place.block),
                   "; all ranks pass memory of one allocation, or none does");
  }
  return list;
}

std::uint64_t NodeBoard::last_arrival(std::size_t rank) const noexcept {
  std::uint64_t last = 0;
  for (const Entry& entry : rows_.get()[rank].entries) last = std::max(last, entry.number.load());
  return last;
}

std::string NodeBoard::describe_absent(std::uint64_t number) const {
  std::string list;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    const std::uint64_t arrived = last_arrival(rank);
    const std::uint64_t left = rows_.get()[rank].left;
    if (left >= number) continue;
    list += text(list.empty() ? "" : ", ", "rank ", members_[rank]);
    list += arrived >= number
                ? text(" has come, but not finished #", left + 1)
                : text(" has not come (its last operation here: ", arrived == 0 ? "none)" : text("#", arrived, ")"));
  }
  return list.empty() ? "every rank has finished" : list;
}

}  // namespace ddpkit::mpi
