#pragma once

#include <functional>
#include <string>

#include "ddpkit/step/stepper.hpp"

namespace ddpkit {

/// `loss`, whose exceptions tell where it was: `place()`, micro-batch, samples and targets. An index out of range where targets
/// are classes is DataError, since a label without an output is what it nearly always comes from. What LibTorch throws when
/// memory runs out passes as it is.
LossFunction located(LossFunction loss, std::function<std::string()> place);

}  // namespace ddpkit
