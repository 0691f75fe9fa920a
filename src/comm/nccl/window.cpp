#include "comm/nccl/window.hpp"

#include <nccl.h>

namespace ddpkit::nccl {

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)

void* open_window(Session& session, const Operation& operation, void* data, std::size_t bytes) {
  ncclWindow_t window = nullptr;
  session.invoke(operation, "ncclCommWindowRegister",
                 [&](ncclComm_t comm) { return ncclCommWindowRegister(comm, data, bytes, &window, NCCL_WIN_COLL_SYMMETRIC); });
  return window;
}

void close_window(Session& session, void* window) noexcept {
  if (window == nullptr) return;
  session.invoke_quietly([&](ncclComm_t comm) { return ncclCommWindowDeregister(comm, static_cast<ncclWindow_t>(window)); });
}

#else

void* open_window(Session&, const Operation&, void*, std::size_t) {
  return nullptr;
}

void close_window(Session&, void*) noexcept {}

#endif

}  // namespace ddpkit::nccl
