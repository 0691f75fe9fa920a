#include "app/start_up.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "app/memory_share.hpp"
#include "ddpkit/base/placement.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/version.hpp"
#include "ddpkit/batch/batch_plan.hpp"
#include "ddpkit/batch/batch_schedule.hpp"
#include "ddpkit/checkpoint/manifest.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/config/print_config.hpp"
#include "ddpkit/tensor/own_stream.hpp"

namespace ddpkit {
namespace {

namespace fs = std::filesystem;

/// GPU = local rank within the visible devices, where this program is linked with the CUDA part and may use it.
c10::Device choose_device(const RunConfig& config, const Topology& topology) {
  const Backend backend = config.comm.backend;
  const bool may = backend == Backend::automatic || backend == Backend::nccl;
  if (!may || !at::hasCUDA() || at::detail::getCUDAHooks().deviceCount() == 0) return c10::kCPU;
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(topology.local_rank));
}

std::string pack(const std::vector<int>& numbers) {
  std::string packed;
  for (const int number : numbers) packed += text(number, " ");
  return packed;
}

std::vector<int> unpack(const std::string& packed) {
  std::istringstream in(packed);
  return {std::istream_iterator<int>(in), {}};
}

/// Cores of all ranks, and what follows for each. `wanted_threads` is this rank's, 0 for its share of the cores.
std::vector<Placement> place(Communicator& control, int wanted_threads, const std::string& device) {
  const Topology& here = control.topology();
  const auto wanted = gather_texts(control, text(wanted_threads));
  const auto masks = gather_texts(control, pack(allowed_cores()));
  const auto hosts = gather_texts(control, here.host);
  const auto devices = gather_texts(control, device);
  std::vector<Placement> placements;
  for (std::size_t rank = 0; rank < masks.size(); ++rank) {
    std::set<int> node_cores;
    int local_size = 0;
    for (std::size_t other = 0; other < masks.size(); ++other) {
      if (hosts[other] != hosts[rank]) continue;
      ++local_size;
      for (const int core : unpack(masks[other])) node_cores.insert(core);
    }
    Placement placement{
        .rank = static_cast<int>(rank), .host = hosts[rank], .cores = unpack(masks[rank]), .device = devices[rank]};
    placement.threads = std::stoi(wanted[rank]);
    if (placement.threads == 0) placement.threads = threads_for_rank(placement.cores.size(), node_cores.size(), local_size);
    placement.oversubscribed = static_cast<std::size_t>(local_size * placement.threads) > node_cores.size();
    placements.push_back(std::move(placement));
  }
  return placements;
}

/// Returns the placement of all ranks.
std::vector<Placement> set_threads(Communicator& control, const RunConfig& config, c10::Device device, Logger& log) {
  const int wanted = config.run.threads > 0 ? static_cast<int>(config.run.threads) : threads_by_environment().value_or(0);
  auto placements = place(control, wanted, device.str());
  at::set_num_threads(placements[static_cast<std::size_t>(control.rank())].threads);
  log.info("job", "placement\n" + placement_table(placements));
  return placements;
}

/// Asked before a run folder is made, so that a wrong path leaves nothing behind. Whether it can be read is seen later.
bool holds_checkpoint(const fs::path& path) {
  if (fs::exists(path / Manifest::kFileName)) return true;
  if (!fs::is_directory(path)) return false;
  for (const auto& item : fs::directory_iterator(path)) {
    const bool published = item.path().filename().string().starts_with("step-");  // others are saves that were cut off
    if (published && fs::exists(item.path() / Manifest::kFileName)) return true;
  }
  return false;
}

/// The newest run of this name that has saved something; a run that failed before it could is passed over.
fs::path newest_saved_run(const RunOptions& run) {
  const fs::path runs = fs::path(run.dir) / run.name;
  fs::path newest;
  if (fs::exists(runs))
    for (const fs::directory_entry& entry : fs::directory_iterator(runs))
      if (!entry.is_symlink() && holds_checkpoint(entry.path() / "checkpoints") && entry.path().filename() > newest.filename())
        newest = entry.path();
  if (newest.empty()) throw StorageError(text("run.resume: no run in ", runs.string(), " has saved a checkpoint yet"));
  return newest;
}

/// Where `run.resume` points: the folder of checkpoints of a run, or one checkpoint.
std::string resume_path(const RunOptions& run) {
  if (run.resume.empty()) return {};
  const fs::path path = run.resume == "latest" ? newest_saved_run(run) : fs::path(run.resume);
  if (!fs::exists(path)) throw StorageError(text("run.resume: ", path.string(), " does not exist"));
  const fs::path run_or_checkpoint = fs::canonical(path);
  const fs::path store = run_or_checkpoint / "checkpoints";
  const fs::path found = fs::exists(store) ? store : run_or_checkpoint;
  if (!holds_checkpoint(found)) throw StorageError(text("run.resume: there is no checkpoint in ", found.string()));
  return found.string();
}

/// A run that goes on keeps its folder; a new run, also one that starts from another's checkpoint, gets a new one.
RunFolder open_run_folder(Communicator& control, const RunOptions& run, const std::string& resume_from, Logger& log) {
  const fs::path store(resume_from);
  if (store.filename() == "checkpoints") return reopen_run_folder(control, store.parent_path());
  return create_run_folder(control, {.dir = run.dir, .name = run.name}, log);
}

/// Under a hidden name first: a run that goes on keeps the configuration it had until the new one is complete.
void write_config(const LoadedConfig& loaded, const RunFolder& folder) {
  const fs::path partial = folder.path() / ".config.yaml.partial";
  std::ofstream out(partial);
  out << print_config(loaded);
  if (!out.flush()) throw StorageError(text("cannot write ", partial.string()));
  fs::rename(partial, folder.config());
}

}  // namespace

Job::Parts start_up(const CommandLine& line, LoadedConfig loaded, const RunConfig& defaults, Communicator& control,
                    Logger& log) {
  const RunConfig& config = loaded.config;
  Job::Parts parts{.verb = line.verb,
                   .output = line.output,
                   .device = choose_device(config, control.topology()),
                   .probe = line.probe,
                   .tune = line.tune,
                   .config_file = line.config_file,
                   .defaults = defaults};
  log.info("job", text("ddpkit ", version(), ", ", control.world_size(), control.world_size() == 1 ? " rank" : " ranks",
                       ", backend ", control.backend()));
  if (config.step.cuda_graph == CudaGraph::on) use_own_stream(parts.device);
  at::globalContext().setFlushDenormal(config.run.flush_denormals);  // threads that start later do as this one does
  parts.placement = set_threads(control, config, parts.device, log);
  limit_memory(control, config.memory.limit, parts.device, log);

  all_or_none(control, "batch", [&] {  // before there is a folder
    solve_batch(config.batch, control.world_size());
    require_schedule_fits(config.batch, control.world_size());
  });
  std::string resume_from;
  all_or_none(control, "run.resume", [&] {
    if (control.rank() == 0) resume_from = resume_path(config.run);
  });
  parts.resume_from = broadcast_text(control, resume_from);
  if (line.verb == Verb::train || (line.verb == Verb::tune && line.tune.dir.empty())) {
    parts.run_folder = open_run_folder(control, config.run, parts.resume_from, log);
    all_or_none(control, "the run folder", [&] {
      if (control.rank() != 0) return;
      log.also_write_to(parts.run_folder.log());
      write_config(loaded, parts.run_folder);
    });
    log.info("job", text("run folder: ", parts.run_folder.path().string()));
  }
  const std::vector<Fact> kind{{"device", parts.device.is_cuda() ? "cuda" : "cpu"}};
  require_equal(control, "the devices (hide them with CUDA_VISIBLE_DEVICES= or set comm.backend)", kind);
  const Device device{parts.device.is_cuda() ? Device::Type::cuda : Device::Type::cpu, parts.device.index(), nullptr};
  parts.data = make_data_communicator(control, device, config.comm);
  parts.loaded = std::move(loaded);
  return parts;
}

}  // namespace ddpkit
