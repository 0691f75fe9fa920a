// benchmarks/gpu/run
//
// ddpkit on one GPU, against the targets G1 to G8. Nothing here measures a link between GPUs.
#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <nccl.h>
#include <torch/version.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/version.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "session.hpp"

namespace {

constexpr int kNoGpu = 77;  // as CTest is told of a test that was skipped

struct Settings {
  bool rehearse = false;
  std::string json;
  std::string python;
  std::string rival_script;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--rehearse") {
      settings.rehearse = true;
      continue;
    }
    if (i + 1 == argc) throw ddpkit::UsageError(ddpkit::text("unknown option ", option, ", or one without its value"));
    const std::string value = argv[++i];
    if (option == "--json")
      settings.json = value;
    else if (option == "--python")
      settings.python = value;
    else if (option == "--rival")
      settings.rival_script = value;
    else
      throw ddpkit::UsageError(ddpkit::text("unknown option ", option, "; --rehearse, --json, --python and --rival are known"));
  }
  return settings;
}

int say_no_gpu() {
  int count = 0;
  const cudaError_t why = cudaGetDeviceCount(&count);
  std::fprintf(stderr,
               "no GPU is visible (cudaGetDeviceCount: %s, %d found): nothing was measured. See nvidia-smi and "
               "CUDA_VISIBLE_DEVICES; --rehearse goes through what needs no GPU on the CPU.\n",
               cudaGetErrorString(why), count);
  return kNoGpu;
}

std::string nccl_version() {
  int version = 0;
  ncclGetVersion(&version);
  return ddpkit::text(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

bench::Facts describe(const bench::Place& place) {
  bench::Facts facts{{"ddpkit", std::string(ddpkit::version())}, {"LibTorch", TORCH_VERSION}, {"NCCL", nccl_version()}};
  if (place.rehearsal()) {
    facts.emplace_back("device", "CPU: a rehearsal, no figure counts");
    return facts;
  }
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, place.device.index());
  int driver = 0;
  cudaDriverGetVersion(&driver);
  facts.emplace_back("device", ddpkit::text(properties.name, ", ", properties.multiProcessorCount, " multiprocessors, ",
                                            ddpkit::bytes_figure(static_cast<double>(properties.totalGlobalMem))));
  facts.emplace_back("CUDA", ddpkit::text(CUDART_VERSION / 1000, ".", CUDART_VERSION / 10 % 100, ", driver for ", driver / 1000,
                                          ".", driver / 10 % 100));
  return facts;
}

std::unique_ptr<bench::Companion> start_rival(const Settings& settings) {
  if (settings.python.empty()) return nullptr;
  return std::make_unique<bench::Companion>(std::vector{settings.python, settings.rival_script}, std::chrono::seconds(120));
}

int run(const Settings& settings) {
  const std::unique_ptr<bench::Companion> rival = start_rival(settings);  // before CUDA, which does not survive a fork
  const bench::Place place{settings.rehearse ? c10::Device(c10::kCPU) : c10::Device(c10::kCUDA, 0)};
  // A graph cannot be recorded on CUDA's default stream, and gradients arrive on the stream on which a reducer was made.
  if (!place.rehearsal()) c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, 0));
  const auto control = ddpkit::make_communicator({.backend = ddpkit::Backend::local});
  const ddpkit::Device device{place.rehearsal() ? ddpkit::Device::Type::cpu : ddpkit::Device::Type::cuda, 0};
  const auto data = ddpkit::make_data_communicator(*control, device);

  bench::Report report("gpu_benchmark", 1, describe(place));
  bench::Session session{.place = place, .report = report, .control = *control, .data = *data};
  session.no_rival_because = settings.python.empty() ? "no Python with torch" : "PyTorch did not start";
  if (rival && rival->ready()) session.rival = rival.get();

  bench::check_results(session);
  for (const auto measure : {bench::measure_wrapper, bench::measure_optimizer, bench::measure_graph, bench::measure_memory,
                             bench::measure_overlap, bench::measure_rival, bench::measure_compression})
    measure(session);
  report.print();
  if (!settings.json.empty()) report.write_json(settings.json);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Settings settings = parse(argc, argv);
    if (!settings.rehearse && c10::cuda::device_count() == 0) return say_no_gpu();
    return run(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
