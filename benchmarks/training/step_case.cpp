#include "training/step_case.hpp"

#include "ddpkit/base/text.hpp"

namespace bench {

std::string StepCase::rival_name() const {
  return ddpkit::text(net == Net::mlp ? "mlp" : "cnn", ":", width, ":", batch, ":", rule == Rule::adamw ? "adamw" : "sgd");
}

}  // namespace bench
