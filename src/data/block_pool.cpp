#include "data/block_pool.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "ddpkit/data/host_array.hpp"

namespace ddpkit {

struct BlockPool::Shelf {
  using Block = std::shared_ptr<std::byte[]>;

  std::mutex mutex;
  std::size_t block_bytes = 0;
  std::vector<Block> free;
  std::int64_t allocations = 0;

  Block take(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    if (bytes != std::exchange(block_bytes, bytes)) free.clear();
    if (free.empty()) {
      free.reserve(static_cast<std::size_t>(++allocations));  // so that putting a block back never allocates
      return allocate_aligned(bytes);
    }
    Block block = std::move(free.back());
    free.pop_back();
    return block;
  }

  void put_back(Block block, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex);
    if (bytes == block_bytes) free.push_back(std::move(block));
  }
};

BlockPool::BlockPool() : shelf_(std::make_shared<Shelf>()) {}

std::shared_ptr<std::byte[]> BlockPool::take(std::size_t bytes) {
  auto block = shelf_->take(bytes);
  std::byte* memory = block.get();
  return {memory,
          [shelf = shelf_, block = std::move(block), bytes](std::byte*) mutable { shelf->put_back(std::move(block), bytes); }};
}

std::int64_t BlockPool::allocations() const {
  const std::lock_guard lock(shelf_->mutex);
  return shelf_->allocations;
}

}  // namespace ddpkit
