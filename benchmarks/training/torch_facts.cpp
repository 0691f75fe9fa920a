#include "training/torch_facts.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/csrc/api/include/torch/version.h>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace bench {
namespace {

// What stands between the dash and the end of a line of at::show_config(), such as "oneAPI Math Kernel Library".
std::string line_with(const std::string& config, const std::string& word) {
  const std::size_t at = config.find(word);
  if (at == std::string::npos) return {};
  const std::size_t begin = config.rfind("- ", at) + 2;
  return config.substr(begin, config.find('\n', at) - begin);
}

}  // namespace

Facts torch_facts() {
  at::set_num_threads(1);
  const std::string config = at::show_config();
  std::string blas = line_with(config, "Math Kernel Library");
  if (blas.empty() && config.find("BLAS_INFO=open") != std::string::npos) blas = "OpenBLAS";
  if (blas.empty())
    throw ddpkit::UsageError("this LibTorch computes on neither MKL nor OpenBLAS; ratios on a slow BLAS mean nothing");
  return {{"LibTorch", TORCH_VERSION},
          {"BLAS", blas},
          {"CPU kernels", at::get_cpu_capability()},
          {"threads", ddpkit::text(at::get_num_threads(), " per rank")}};
}

}  // namespace bench
