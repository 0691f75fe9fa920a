// Stand-ins for the NCCL calls that the backend makes. The ranks of a communicator are threads of this process.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "ddpkit/base/text.hpp"
#include "support/fake_gpu.hpp"
#include "support/fake_nccl_reduce.hpp"

using ddpkit::testing::FakeGpu;
using ddpkit::testing::FakeOp;
using ddpkit::testing::reduce;
using ddpkit::testing::size_of;

namespace {

enum class Kind { all_reduce, reduce_scatter, all_gather, broadcast };

struct Share {
  ncclComm* comm = nullptr;
  const void* in = nullptr;
  void* out = nullptr;
  std::shared_ptr<FakeOp> op;
};

struct Collective {
  Kind kind = Kind::all_reduce;
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  int root = 0;
  std::vector<Share> shares;  // by rank

  bool matches(const Collective& other) const {
    return kind == other.kind && count == other.count && type == other.type && op == other.op && root == other.root;
  }
};

struct SplitWish {
  ncclComm* child = nullptr;
  int color = 0;
  int key = 0;
  int rank = 0;
};

struct Group {
  int size = 0;
  std::vector<ncclComm*> members;               // by rank
  std::map<std::uint64_t, Collective> waiting;  // by number
  std::map<std::uint64_t, std::vector<SplitWish>> splits;
  std::map<std::uint64_t, std::vector<std::size_t>> windows;  // bytes of those that came, by number

  int joined = 0;

  bool complete() const { return joined == size; }
};

std::map<std::string, std::shared_ptr<Group>>& groups() {
  static std::map<std::string, std::shared_ptr<Group>> all;
  return all;
}

}  // namespace

struct ncclComm {
  std::shared_ptr<Group> group;
  int rank = 0;
  std::uint64_t issued = 0;
  std::uint64_t splits = 0;
  std::uint64_t windows = 0;
  int polls_left = 0;
  bool finalized = false;
  bool meeting = false;  // the others have not come to the same call yet
  ncclResult_t error = ncclSuccess;
  std::vector<std::shared_ptr<FakeOp>> ops;
  std::shared_ptr<FakeOp> not_yet_on_stream;  // NCCL is still at it
  cudaStream_t its_stream = nullptr;
};

namespace {

std::size_t elements_in(const Collective& collective) {
  return collective.count * (collective.kind == Kind::reduce_scatter ? collective.shares.size() : 1);
}

void carry_out(Collective& collective) {
  const std::size_t bytes = elements_in(collective) * size_of(collective.type);
  std::vector<std::vector<std::byte>> inputs;
  for (const Share& share : collective.shares) {
    const auto* begin = static_cast<const std::byte*>(share.in);
    inputs.emplace_back(begin, begin + bytes);
  }
  std::vector<std::byte> result;
  if (collective.kind == Kind::all_reduce || collective.kind == Kind::reduce_scatter)
    result = reduce(inputs, elements_in(collective), collective.type, collective.op);
  for (std::size_t rank = 0; rank < collective.shares.size(); ++rank) {
    auto* out = static_cast<std::byte*>(collective.shares[rank].out);
    const std::size_t part = collective.count * size_of(collective.type);
    switch (collective.kind) {
      case Kind::all_reduce: std::memcpy(out, result.data(), bytes); break;
      case Kind::reduce_scatter: std::memcpy(out, result.data() + rank * part, part); break;
      case Kind::broadcast: std::memcpy(out, inputs[static_cast<std::size_t>(collective.root)].data(), bytes); break;
      case Kind::all_gather:
        for (std::size_t other = 0; other < inputs.size(); ++other) std::memcpy(out + other * part, inputs[other].data(), part);
    }
    collective.shares[rank].op->done = true;
  }
}

bool everybody_came(const Collective& collective) {
  return std::all_of(collective.shares.begin(), collective.shares.end(),
                     [](const Share& share) { return share.op != nullptr; });
}

ncclResult_t in_progress(ncclComm* comm) {
  comm->polls_left = FakeGpu::get().behaviour.collectives_take_time ? FakeGpu::get().behaviour.polls_in_progress : 0;
  return comm->polls_left > 0 ? ncclInProgress : ncclSuccess;
}

void put_on_stream(ncclComm* comm) {
  if (comm->not_yet_on_stream) comm->its_stream->tail.push_back(std::exchange(comm->not_yet_on_stream, nullptr));
}

ncclResult_t issue(ncclComm* comm, Collective wanted, const void* in, void* out, cudaStream_t stream, const char* name) {
  FakeGpu& gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  if (gpu.enter(name)) return ncclSystemError;
  gpu.stream_log.push_back(ddpkit::text(name, " s", stream->id));
  const std::uint64_t number = comm->issued++;
  Group& group = *comm->group;
  const auto [entry, first] = group.waiting.try_emplace(number, wanted);
  Collective& collective = entry->second;
  if (first) collective.shares.resize(static_cast<std::size_t>(group.size));
  const auto op = std::make_shared<FakeOp>();
  collective.shares[static_cast<std::size_t>(comm->rank)] = {comm, in, out, op};
  comm->not_yet_on_stream = op;
  comm->its_stream = stream;
  comm->ops.push_back(op);
  std::erase_if(comm->ops, [](const auto& past) { return past->done; });
  if (!collective.matches(wanted)) {
    for (ncclComm* member : group.members)
      if (member != nullptr) member->error = ncclInvalidUsage;
  } else if (everybody_came(collective) && !gpu.behaviour.stalled) {
    carry_out(collective);
    group.waiting.erase(entry);
  }
  gpu.changed.notify_all();
  const ncclResult_t result = in_progress(comm);
  if (result == ncclSuccess) put_on_stream(comm);
  return result;
}

void join(const std::shared_ptr<Group>& group, ncclComm* comm, int rank) {
  group->members.resize(static_cast<std::size_t>(group->size));
  group->members[static_cast<std::size_t>(rank)] = comm;
  ++group->joined;
  comm->group = group;
  comm->rank = rank;
}

ncclComm* make_comm() {
  auto* comm = new ncclComm;
  comm->polls_left = FakeGpu::get().behaviour.polls_in_progress;
  ++FakeGpu::get().live;
  return comm;
}

void finish_split(std::vector<SplitWish> wishes) {
  std::stable_sort(wishes.begin(), wishes.end(), [](const SplitWish& a, const SplitWish& b) {
    return std::pair(a.color, a.key) < std::pair(b.color, b.key);
  });
  for (std::size_t i = 0; i < wishes.size();) {
    const auto group = std::make_shared<Group>();
    std::size_t end = i;
    while (end < wishes.size() && wishes[end].color == wishes[i].color) ++end;
    group->size = static_cast<int>(end - i);
    for (std::size_t member = i; member < end; ++member)
      if (wishes[member].child != nullptr) join(group, wishes[member].child, static_cast<int>(member - i));
    i = end;
  }
}

void end_meeting(const Group& group) {
  for (ncclComm* member : group.members)
    if (member != nullptr) member->meeting = false;
}

void leave(ncclComm* comm) {
  if (comm->group)
    for (ncclComm*& member : comm->group->members)
      if (member == comm) member = nullptr;
  for (const auto& op : comm->ops) op->done = true;  // a kernel ends when its communicator is aborted
  delete comm;
  --FakeGpu::get().live;
  FakeGpu::get().changed.notify_all();
}

}  // namespace

#define FAKE_NCCL_CALL(name)             \
  FakeGpu& gpu = FakeGpu::get();         \
  const std::lock_guard lock(gpu.mutex); \
  if (gpu.enter(name)) return ncclSystemError

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  FAKE_NCCL_CALL("ncclGetUniqueId");
  std::memset(id, 0, sizeof *id);
  const int number = gpu.next_id++;
  std::memcpy(id, &number, sizeof number);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  FAKE_NCCL_CALL("ncclCommInitRankConfig");
  if (config->blocking != 0) return ncclInvalidUsage;  // a blocking one cannot be aborted safely
  auto& group = groups()[std::string(id.internal, sizeof id.internal)];
  if (!group) group = std::make_shared<Group>();
  group->size = ranks;
  *comm = make_comm();
  join(group, *comm, rank);
  return ncclInProgress;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* child, ncclConfig_t* config) {
  FAKE_NCCL_CALL("ncclCommSplit");
  if (config->blocking != 0) return ncclInvalidUsage;
  *child = color == NCCL_SPLIT_NOCOLOR ? nullptr : make_comm();
  auto& wishes = comm->group->splits[comm->splits++];
  wishes.push_back({*child, color, key, comm->rank});
  std::sort(wishes.begin(), wishes.end(), [](const SplitWish& a, const SplitWish& b) { return a.rank < b.rank; });
  comm->meeting = true;
  if (static_cast<int>(wishes.size()) == comm->group->size) {
    finish_split(wishes);
    end_meeting(*comm->group);
  }
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  FAKE_NCCL_CALL("ncclCommGetAsyncError");
  const auto planned = gpu.behaviour.async_errors.find(comm->rank);
  if (planned != gpu.behaviour.async_errors.end()) comm->error = planned->second;
  const bool unfinished = !comm->group || !comm->group->complete() || comm->meeting || comm->polls_left-- > 0 ||
                          (comm->finalized && gpu.behaviour.finalize_hangs);
  if (!unfinished) put_on_stream(comm);
  *error = comm->error != ncclSuccess ? comm->error : unfinished ? ncclInProgress : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  FAKE_NCCL_CALL("ncclCommFinalize");
  comm->finalized = true;
  comm->polls_left = gpu.behaviour.polls_in_progress;
  return gpu.behaviour.finalize_hangs || comm->polls_left > 0 ? ncclInProgress : ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  FakeGpu& gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  const bool fails = gpu.enter("ncclCommDestroy");
  ++gpu.destroys;
  leave(comm);
  return fails ? ncclSystemError : ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  FakeGpu& gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  const bool fails = gpu.enter("ncclCommAbort");
  if (comm == nullptr) return ncclSuccess;
  ++gpu.aborts;
  if (comm->group)
    for (ncclComm* member : comm->group->members)
      if (member != nullptr && member != comm) member->error = ncclRemoteError;
  leave(comm);
  return fails ? ncclSystemError : ncclSuccess;
}

ncclResult_t ncclMemAlloc(void** data, std::size_t bytes) {
  FAKE_NCCL_CALL("ncclMemAlloc");
  *data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  ++gpu.live;
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* data) {
  FakeGpu& gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  const bool fails = gpu.enter("ncclMemFree");
  std::free(data);
  --gpu.live;
  return fails ? ncclSystemError : ncclSuccess;
}

ncclResult_t ncclCommRegister(const ncclComm_t, void* data, std::size_t, void** handle) {
  FAKE_NCCL_CALL("ncclCommRegister");
  *handle = data;
  ++gpu.registrations;
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t, void*) {
  FAKE_NCCL_CALL("ncclCommDeregister");
  --gpu.registrations;
  return ncclSuccess;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* data, std::size_t bytes, ncclWindow_t* window, int flags) {
  FAKE_NCCL_CALL("ncclCommWindowRegister");
  if (flags != NCCL_WIN_COLL_SYMMETRIC) return ncclInvalidArgument;
  std::vector<std::size_t>& sizes = comm->group->windows[comm->windows++];
  sizes.push_back(bytes);
  if (sizes.front() != bytes) return ncclInvalidUsage;
  *window = static_cast<ncclWindow_t>(data);
  ++gpu.windows;
  comm->meeting = true;
  if (static_cast<int>(sizes.size()) == comm->group->size) end_meeting(*comm->group);
  return ncclInProgress;
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t, ncclWindow_t) {
  FAKE_NCCL_CALL("ncclCommWindowDeregister");
  --gpu.windows;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return issue(comm, {Kind::all_reduce, count, type, op, 0, {}}, in, out, stream, "ncclAllReduce");
}

ncclResult_t ncclReduceScatter(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return issue(comm, {Kind::reduce_scatter, count, type, op, 0, {}}, in, out, stream, "ncclReduceScatter");
}

ncclResult_t ncclAllGather(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return issue(comm, {Kind::all_gather, count, type, ncclSum, 0, {}}, in, out, stream, "ncclAllGather");
}

ncclResult_t ncclBroadcast(const void* in, void* out, std::size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return issue(comm, {Kind::broadcast, count, type, ncclSum, root, {}}, in, out, stream, "ncclBroadcast");
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInvalidUsage: return "invalid usage";
    default: return "unhandled system error";
  }
}

const char* ncclGetLastError(ncclComm_t) {
  return "";
}

}  // extern "C"
