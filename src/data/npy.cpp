#include "ddpkit/data/npy.hpp"

#include <utility>

#include "data/checked_size.hpp"
#include "data/input_file.hpp"
#include "data/npy_header.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {

HostArray read_npy_array(const std::string& path, const std::string& name) {
  InputFile file(path);
  NpyHeader header = read_npy_header(file);
  file.expect_room_for(checked_bytes(header.shape, header.dtype, path));
  HostArray array = make_array(name, header.dtype, std::move(header.shape));
  file.read({array.bytes.get(), array.size_bytes()}, text("data of shape ", shape_text(array.shape)));
  file.expect_end();
  return array;
}

InMemoryDataset read_npy(const std::string& inputs, const std::string& targets) {
  return InMemoryDataset({{read_npy_array(inputs, "input")}, {read_npy_array(targets, "target")}}, inputs);
}

}  // namespace ddpkit
