#include "optim/adam_moments.hpp"

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

std::vector<std::string> adam_moments(const OptimizerOptions& options) {
  if (options.beta1 >= 1 || options.beta2 >= 1)
    throw ConfigError(text("optimizer.beta1 and beta2 must be below 1; got ", options.beta1, " and ", options.beta2));
  return {"exp_avg", "exp_avg_sq"};
}

}  // namespace ddpkit
