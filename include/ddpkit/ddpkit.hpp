#pragma once

// Everything a training program needs. Files that are compiled often include the single headers instead.

#include "ddpkit/app/main.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/comm/make_communicator.hpp"
#include "ddpkit/data/in_memory_dataset.hpp"
#include "ddpkit/data/loader.hpp"
#include "ddpkit/data/make_order.hpp"
#include "ddpkit/data/open_dataset.hpp"
#include "ddpkit/optim/make_optimizer.hpp"
#include "ddpkit/optim/torch_optimizer.hpp"
#include "ddpkit/reduce/grad_reducer.hpp"
#include "ddpkit/reduce/parameter_sync.hpp"
#include "ddpkit/schedule/lr_schedule.hpp"
#include "ddpkit/step/stepper.hpp"
#include "ddpkit/tensor/as_buffer.hpp"
#include "ddpkit/tensor/recompute.hpp"
#include "ddpkit/tensor/safetensors_io.hpp"
#include "ddpkit/tensor/tensor_dataset.hpp"
#include "ddpkit/tensor/torch_dataset.hpp"
#include "ddpkit/train/trainer.hpp"
