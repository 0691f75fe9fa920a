#include "ddpkit/data/idx.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "data/checked_size.hpp"
#include "data/input_file.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kUnsignedByte = 0x08;

// Both spellings are in use: train-images-idx3-ubyte and train-images.idx3-ubyte.
const std::array<std::array<const char*, 2>, 4> kEndings = {{{"-images-idx3-ubyte.gz", "-labels-idx1-ubyte.gz"},
                                                             {"-images-idx3-ubyte", "-labels-idx1-ubyte"},
                                                             {"-images.idx3-ubyte.gz", "-labels.idx1-ubyte.gz"},
                                                             {"-images.idx3-ubyte", "-labels.idx1-ubyte"}}};

std::string hint_for(const std::string& path) {
  return path.find("fashion-mnist") == std::string::npos ? "" : "; Debian has it: apt install dataset-fashion-mnist";
}

bool exists(const std::string& path) {
  std::error_code unreadable;
  return fs::exists(path, unreadable);
}

std::string existing(const std::string& stem, std::size_t kind) {
  for (const auto& endings : kEndings)
    if (exists(stem + endings[kind])) return stem + endings[kind];
  throw DataError(text(stem, kEndings[0][kind], ": no such file, with or without .gz", hint_for(stem)));
}

std::string labels_beside(const std::string& images) {
  for (const auto& endings : kEndings) {
    const std::size_t place = images.rfind(endings[0]);
    if (place == std::string::npos) continue;
    return existing(images.substr(0, place), 1);
  }
  throw DataError(text(images, ": the labels beside it cannot be guessed from a name that does not end in ", kEndings[1][0],
                       "; give the folder and the split"));
}

std::uint32_t big_endian(std::span<const std::byte, 4> bytes) {
  std::uint32_t value = 0;
  for (const std::byte b : bytes) value = (value << 8) | static_cast<std::uint32_t>(b);
  return value;
}

std::uint32_t read_number(InputFile& file, const std::string& what) {
  std::array<std::byte, 4> bytes{};
  file.read(bytes, what);
  return big_endian(bytes);
}

// Magic number: two zero bytes, the element type, the number of dimensions.
std::vector<std::int64_t> read_shape(InputFile& file, const std::string& expected) {
  const std::uint32_t magic = read_number(file, "the magic number");
  const std::uint32_t dimensions = magic & 0xffU;
  if (magic >> 16 != 0 || dimensions == 0)
    file.fail(text("is not an IDX file: its magic number is ", magic, ", expected ", expected));
  if ((magic >> 8 & 0xffU) != kUnsignedByte)
    file.fail(text("holds elements of IDX type ", magic >> 8 & 0xffU, ", expected 8 (unsigned bytes)"));
  std::vector<std::int64_t> shape;
  for (std::uint32_t i = 0; i < dimensions; ++i) shape.push_back(read_number(file, "the header"));
  return shape;
}

HostArray read_bytes(const std::string& path, const std::string& name, const std::string& expected_magic) {
  InputFile file(path, hint_for(path));
  std::vector<std::int64_t> shape = read_shape(file, expected_magic);
  file.expect_room_for(checked_bytes(shape, DType::uint8, path));
  HostArray array = make_array(name, DType::uint8, std::move(shape));
  file.read({array.bytes.get(), array.size_bytes()}, text("data of shape ", shape_text(array.shape)));
  file.expect_end();
  return array;
}

HostArray read_images(const std::string& path) {
  HostArray images = read_bytes(path, "input", "2051");
  if (images.shape.size() < 2) throw DataError(text(path, ": holds labels, expected images; are the two files swapped?"));
  if (images.shape.size() == 3) images.shape.insert(images.shape.begin() + 1, 1);
  return images;
}

HostArray read_labels(const std::string& path) {
  const HostArray stored = read_bytes(path, "target", "2049");
  if (stored.shape.size() != 1)
    throw DataError(text(path, ": holds an array of shape ", shape_text(stored.shape), ", expected one label per sample"));
  HostArray labels = make_array("target", DType::int64, stored.shape);
  const auto from = stored.values<std::uint8_t>();
  std::copy(from.begin(), from.end(), labels.values<std::int64_t>().begin());
  return labels;
}

}  // namespace

IdxFiles find_idx(const std::string& path, const std::string& split) {
  if (!exists(path)) throw DataError(text(path, ": no such folder or file, or no permission", hint_for(path)));
  if (!fs::is_directory(path)) return {path, labels_beside(path)};
  if (split.empty()) throw ConfigError(text("data: ", path, " is a folder; split: say which prefix, such as train or t10k"));
  const std::string stem = (fs::path(path) / split).string();
  return {existing(stem, 0), existing(stem, 1)};
}

InMemoryDataset read_idx(const IdxFiles& files) {
  HostArray images = read_images(files.images);
  HostArray labels = read_labels(files.labels);
  if (images.shape[0] != labels.shape[0])
    throw DataError(text(files.images, " has ", images.shape[0], " images and ", files.labels, " ", labels.shape[0],
                         " labels; do the files belong together?"));
  return InMemoryDataset({{std::move(images), Rescale::unit}, {std::move(labels)}}, files.images);
}

}  // namespace ddpkit
