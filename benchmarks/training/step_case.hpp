#pragma once

#include <cstdint>
#include <string>

namespace bench {

/// A model, a batch per rank and an optimizer.
struct StepCase {
  enum class Net { mlp, cnn };
  enum class Rule { adamw, sgd };

  std::string title{};
  Net net = Net::mlp;
  std::int64_t width = 1024;  ///< of the three hidden layers of the MLP
  std::int64_t batch = 64;
  Rule rule = Rule::adamw;
  double clip_norm = 0;  ///< 0: no clipping
  double lr = 1e-3;

  /// As benchmarks/rivals/ddp_gloo.py reads it: "mlp:1024:64:adamw".
  std::string rival_name() const;
};

}  // namespace bench
