#pragma once

#include "ddpkit/comm/communicator.hpp"

namespace ddpkit {

/// The two communicators of a job: gradients on their device, and host data. On CPU one may serve as both. Both must outlive
/// whoever holds them.
struct Channels {
  Communicator& data;
  Communicator& control;

  Channels(Communicator& both) : data(both), control(both) {}
  Channels(Communicator& data_, Communicator& control_) : data(data_), control(control_) {}
};

}  // namespace ddpkit
