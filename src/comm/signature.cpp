#include "ddpkit/comm/signature.hpp"

#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

std::string_view name_of(Collective kind) {
  switch (kind) {
    case Collective::all_reduce: return "all_reduce";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::all_gather: return "all_gather";
    case Collective::broadcast: return "broadcast";
    case Collective::barrier: return "barrier";
    case Collective::allocate: return "allocate";
    case Collective::split: return "split";
    case Collective::close: return "end of the communicator";
  }
  return "?";
}

std::string describe(const Signature& signature) {
  const auto elements = text(name_of(signature.kind), " of ", signature.count, " ", name_of(signature.dtype));
  switch (signature.kind) {
    case Collective::all_reduce:
    case Collective::reduce_scatter: return text(elements, " (", name_of(static_cast<ReduceOp>(signature.detail)), ")");
    case Collective::broadcast: return text(elements, " from rank ", signature.root);
    case Collective::all_gather: return elements;
    case Collective::allocate: return text("allocate of ", signature.count, " bytes");
    case Collective::barrier:
    case Collective::split:
    case Collective::close: break;
  }
  return std::string(name_of(signature.kind));
}

}  // namespace ddpkit
