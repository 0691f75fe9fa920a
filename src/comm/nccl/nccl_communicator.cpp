#include "comm/nccl/nccl_communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "comm/nccl/api_error.hpp"
#include "comm/nccl/nccl_block.hpp"
#include "comm/nccl/types.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {
namespace {

constexpr std::size_t kNumbersPerRank = 2;

std::chrono::milliseconds watch_interval(std::chrono::milliseconds timeout) {
  return std::clamp(timeout / 8, std::chrono::milliseconds(5), std::chrono::milliseconds(1000));
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Containers on one machine have names of their own, and cloned machines have the same name; the kernel's boot is one each.
std::string machine_name() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot.empty() ? host_name() : boot;
}

std::string bus_id_of(int device) {
  std::array<char, 32> id{};
  check(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device), "cudaDeviceGetPCIBusId");
  return id.data();
}

// Does not throw: the others wait for this rank's word, good or bad.
Member introduce(int rank, int device) {
  Member member{.host = host_name(), .machine = machine_name()};
  try {
    check(cudaSetDevice(device), text("cudaSetDevice(", device, ")"));
    member.bus_id = bus_id_of(device);
    ncclUniqueId id{};
    if (rank == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    if (rank == 0) member.unique_id = to_hex(&id, sizeof id);
  } catch (const Error& error) {
    member.failure = text(error.what(), "; see nvidia-smi and CUDA_VISIBLE_DEVICES");
  }
  return member;
}

std::vector<Member> meet(Rendezvous& rendezvous, const Member& mine) {
  const std::vector<std::string> texts = rendezvous.meet(to_text(mine));
  std::vector<Member> members;
  for (const std::string& text : texts) members.push_back(parse_member(static_cast<int>(members.size()), text));
  return members;
}

std::size_t scratch_bytes(std::size_t ranks) {
  return ranks * kNumbersPerRank * sizeof(std::int64_t);
}

}  // namespace

std::unique_ptr<Communicator> NcclCommunicator::connect(Rendezvous& rendezvous, const Options& options) {
  std::vector<Member> members = meet(rendezvous, introduce(rendezvous.rank(), options.device));
  require_usable(members);
  ncclUniqueId id{};
  if (!from_hex(members[0].unique_id, &id, sizeof id))
    throw CommError("rank 0 sent no id of an NCCL communicator; do all ranks run the same program?", ExitStatus::disagree);
  const DeviceGuard guard(options.device);
  const int rank = rendezvous.rank();
  std::shared_ptr<Session> session = Session::connect({.rank = rank, .device = options.device, .timeout = options.timeout},
                                                      static_cast<int>(members.size()), id);
  return std::unique_ptr<Communicator>(new NcclCommunicator(std::move(session), std::move(members), rank, options));
}

NcclCommunicator::NcclCommunicator(std::shared_ptr<Session> session, std::vector<Member> members, int rank, Options options)
    : Communicator(topology_among(members, rank), Device::Type::cuda),
      options_(std::move(options)),
      members_(std::move(members)),
      session_(std::move(session)),
      scratch_(make_device_bytes(scratch_bytes(members_.size()))),
      works_(session_),
      watch_(works_, watch_interval(options_.timeout)) {}

NcclCommunicator::~NcclCommunicator() {
  session_->close();  // before the memory of what is under way may go
}

Memory NcclCommunicator::do_allocate(std::size_t bytes) {
  const DeviceGuard guard(options_.device);
  std::shared_ptr<NcclBlock> block;
  std::string failure;
  try {
    block = std::make_shared<NcclBlock>(session_, bytes, ++allocated_);
  } catch (const Error& error) {
    failure = error.what();
  }
  // Also when it failed here: the others wait.
  const std::vector<std::int64_t> outcome = gather_numbers("allocate", std::array<std::int64_t, 2>{failure.empty(), 0});
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    if (outcome[rank * kNumbersPerRank] != 0) continue;
    const std::string why = failure.empty() ? "" : text("; here: ", failure);
    throw on_all_ranks(
        CommError(text("rank ", this->rank(), ": allocate: no ", bytes, " bytes on rank ", rank, why), ExitStatus::internal));
  }
  if (!alone()) block->share();
  return Memory(std::move(block));
}

Work NcclCommunicator::do_all_reduce(Buffer data, ReduceOp op, std::string_view tag) {
  return issue(next("all_reduce", tag, data.bytes()), "ncclAllReduce", data, data, [&](ncclComm_t comm) {
    return ncclAllReduce(data.data, data.data, data.count, to_nccl(data.dtype), to_nccl(op), comm, session_->stream());
  });
}

Work NcclCommunicator::do_reduce_scatter(ConstBuffer in, Buffer out, ReduceOp op, std::string_view tag) {
  return issue(next("reduce_scatter", tag, in.bytes()), "ncclReduceScatter", in, out, [&](ncclComm_t comm) {
    return ncclReduceScatter(in.data, out.data, out.count, to_nccl(in.dtype), to_nccl(op), comm, session_->stream());
  });
}

Work NcclCommunicator::do_all_gather(ConstBuffer in, Buffer out, std::string_view tag) {
  return issue(next("all_gather", tag, out.bytes()), "ncclAllGather", in, out, [&](ncclComm_t comm) {
    return ncclAllGather(in.data, out.data, in.count, to_nccl(in.dtype), comm, session_->stream());
  });
}

Work NcclCommunicator::do_broadcast(Buffer data, int root, std::string_view tag) {
  return issue(next("broadcast", tag, data.bytes()), "ncclBroadcast", data, data, [&](ncclComm_t comm) {
    return ncclBroadcast(data.data, data.data, data.count, to_nccl(data.dtype), root, comm, session_->stream());
  });
}

void NcclCommunicator::do_barrier() {
  Buffer one;
  one.data = scratch_.get();
  one.count = 1;
  one.dtype = DType::uint8;
  one.device = {.type = Device::Type::cuda, .index = options_.device, .stream = session_->stream()};
  issue(next("barrier", {}, 1), "ncclAllReduce", one, one, [&](ncclComm_t comm) {
    return ncclAllReduce(one.data, one.data, 1, ncclUint8, ncclMax, comm, session_->stream());
  }).synchronize();
}

std::unique_ptr<Communicator> NcclCommunicator::do_split(int color, int key) {
  const std::vector<std::int64_t> numbers = gather_numbers("split", std::array<std::int64_t, 2>{color, key});
  std::vector<SplitWish> wishes;
  for (std::size_t i = 0; i < numbers.size(); i += kNumbersPerRank) wishes.push_back({numbers[i], numbers[i + 1]});
  const std::vector<int> former = members_of_split(wishes, rank());
  const int new_rank = static_cast<int>(std::find(former.begin(), former.end(), rank()) - former.begin());
  const DeviceGuard guard(options_.device);
  std::shared_ptr<Session> session = session_->split(next("split", {}, 0), color, key, new_rank);
  if (!session) return nullptr;
  std::vector<Member> members;
  for (const int member : former) members.push_back(members_[static_cast<std::size_t>(member)]);
  return std::unique_ptr<Communicator>(new NcclCommunicator(std::move(session), std::move(members), new_rank, options_));
}

void NcclCommunicator::do_abort(const Error& reason) noexcept {
  session_->fail(text("aborted: ", reason.what()), reason.status());
  options_.end_job(reason);
}

Operation NcclCommunicator::next(std::string_view name, std::string_view tag, std::size_t bytes) {
  return {.name = name, .sequence = issued_++, .bytes = bytes, .tag = std::string(tag)};
}

void NcclCommunicator::check_place(const Operation& operation, const Device& device, std::size_t count) const {
  if (count == 0 || device.index == options_.device) return;
  throw UsageError(text(describe(rank(), operation), ": the elements lie on cuda:", device.index,
                        ", but this communicator works on cuda:", options_.device));
}

template <class Call>
Work NcclCommunicator::issue(Operation operation, std::string_view name, const ConstBuffer& in, const Buffer& out,
                             const Call& call) {
  check_place(operation, in.device, in.count);
  check_place(operation, out.device, out.count);
  if (in.device.stream != out.device.stream && in.count > 0)
    throw UsageError(text(describe(rank(), operation),
                          ": input and output are used on different streams; order one after the "
                          "other and pass both with the same"));
  const bool nothing_to_do = (in.count == 0 && out.count == 0) || (alone() && in.data == out.data);
  if (nothing_to_do) {  // on all ranks alike
    session_->check(operation);
    return Work();
  }
  std::shared_ptr<NcclWork> work = works_.take();
  work->start(std::move(operation), name, std::cref(call), static_cast<cudaStream_t>(out.device.stream),
              {.owners = {in.keep_alive, out.keep_alive}, .memories = {in.memory, out.memory}});
  works_.track(work);
  return Work(std::move(work));
}

// Two numbers of every rank, in rank order. For what is rare: it waits for the device.
std::vector<std::int64_t> NcclCommunicator::gather_numbers(std::string_view name, std::span<const std::int64_t> mine) {
  const DeviceGuard guard(options_.device);
  const cudaStream_t stream = session_->stream();
  std::vector<std::int64_t> all(members_.size() * kNumbersPerRank);
  std::byte* own = scratch_.get() + scratch_bytes(static_cast<std::size_t>(rank()));
  check(cudaMemcpyAsync(own, mine.data(), mine.size_bytes(), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  Buffer out;
  out.data = scratch_.get();
  out.count = all.size();
  out.dtype = DType::int64;
  out.device = {.type = Device::Type::cuda, .index = options_.device, .stream = stream};
  issue(next(name, {}, out.bytes()), "ncclAllGather", out, out, [&](ncclComm_t comm) {
    return ncclAllGather(own, out.data, kNumbersPerRank, ncclInt64, comm, stream);
  }).synchronize();
  check(cudaMemcpyAsync(all.data(), scratch_.get(), out.bytes(), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return all;
}

}  // namespace ddpkit::nccl
