#include "comm/aligned_block.hpp"

#include <cstring>
#include <new>

namespace ddpkit {

AlignedBlock::AlignedBlock(std::size_t bytes, std::uint64_t block_id) {
  data = static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kAlignment)));
  std::memset(data, 0, bytes);
  size = bytes;
  id = block_id;
}

AlignedBlock::~AlignedBlock() {
  ::operator delete(data, std::align_val_t(kAlignment));
}

}  // namespace ddpkit
