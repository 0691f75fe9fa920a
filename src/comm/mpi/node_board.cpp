#include "comm/mpi/node_board.hpp"

#include "comm/mpi/packed_signature.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {

std::size_t NodeBoard::bytes(std::size_t ranks) {
  return ranks * sizeof(Row);
}

NodeBoard::NodeBoard(std::shared_ptr<std::byte> memory, std::vector<int> members, std::size_t mine)
    : rows_(memory, reinterpret_cast<Row*>(memory.get())), members_(std::move(members)), mine_(mine) {}

void NodeBoard::arrive(std::uint64_t number, const Signature& signature, Place place) noexcept {
  Row& row = rows_.get()[mine_];
  row.entries[number % kOutstanding] = {pack(signature), signature.count, place};
  row.arrived.store(number, std::memory_order_release);
}

void NodeBoard::leave(std::uint64_t number) noexcept {
  rows_.get()[mine_].left.store(number, std::memory_order_release);
}

bool NodeBoard::all_arrived(std::uint64_t number) const noexcept {
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    if (rows_.get()[rank].arrived.load(std::memory_order_acquire) < number) return false;
  return true;
}

bool NodeBoard::all_left(std::uint64_t number) const noexcept {
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    if (rows_.get()[rank].left.load(std::memory_order_acquire) < number) return false;
  return true;
}

Place NodeBoard::place(std::size_t rank, std::uint64_t number) const noexcept {
  return entry(rank, number).place;
}

std::string NodeBoard::describe_mismatch(std::uint64_t number, const Signature& signature) const {
  std::string list;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    const Entry& other = entry(rank, number);
    if (other.what == pack(signature) && other.count == signature.count) continue;
    list += text(list.empty() ? "" : ", ", "rank ", members_[rank], " issued ", describe(unpack(other.what, other.count)));
  }
  return list;
}

std::string NodeBoard::describe_absent(std::uint64_t number) const {
  std::string list;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    const std::uint64_t arrived = rows_.get()[rank].arrived;
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
