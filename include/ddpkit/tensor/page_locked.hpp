#pragma once

#include <cstddef>
#include <memory>

namespace ddpkit {

/// Page-locked memory of the host, from which copies to a GPU run while the host goes on; for LoaderOptions::allocate. Throws
/// where the program is not linked with LibTorch's CUDA part.
std::shared_ptr<std::byte[]> allocate_page_locked(std::size_t bytes);

}  // namespace ddpkit
