#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "ddpkit/observe/metric_record.hpp"

// The little of protocol buffers and of TensorFlow's event.proto and summary.proto that event files need.

namespace ddpkit {

/// The Event that opens a file and names its version.
std::string version_event(std::chrono::system_clock::time_point time);

/// The Event with a scalar per value and a text summary where the record has text.
std::string metric_event(const MetricRecord& record);

/// An Event as it lies in the file: length, masked CRC of the length, the bytes, masked CRC of the bytes.
std::string framed(std::string_view event);

}  // namespace ddpkit
