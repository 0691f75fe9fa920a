#pragma once

#include <cstdint>
#include <vector>

#include "data/input_file.hpp"
#include "ddpkit/base/dtype.hpp"

namespace ddpkit {

struct NpyHeader {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
};

/// Reads magic string, version and the dictionary that follows: numpy.lib.format, "Format Version 1.0" to "3.0".
NpyHeader read_npy_header(InputFile& file);

}  // namespace ddpkit
