#include "ddpkit/data/cifar10.hpp"

#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "data/input_file.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr std::size_t kPixels = 3 * 32 * 32;
constexpr std::size_t kRecord = 1 + kPixels;  // the label, then red, green and blue planes
constexpr int kClasses = 10;

std::vector<std::string> names_of(const std::string& split) {
  if (split == "test") return {"test_batch.bin"};
  if (split == "train")
    return {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};
  throw ConfigError(text("data.split: cifar10 has train and test, got '", split, "'"));
}

std::string read_records(const std::string& path) {
  InputFile file(path, "; get the binary version of CIFAR-10 and give the folder with its .bin files");
  std::string bytes = file.read_rest();
  if (bytes.empty() || bytes.size() % kRecord != 0)
    file.fail(text("has ", bytes.size(), " bytes, expected a multiple of ", kRecord, "; is it cut off?"));
  for (std::size_t record = 0; record < bytes.size() / kRecord; ++record) {
    const auto label = static_cast<unsigned char>(bytes[record * kRecord]);
    if (label >= kClasses) file.fail(text("record ", record, " has label ", int{label}, ", expected 0 to 9"));
  }
  return bytes;
}

InMemoryDataset split_records(std::string_view bytes, const std::string& origin) {
  const auto count = static_cast<std::int64_t>(bytes.size() / kRecord);
  HostArray images = make_array("input", DType::uint8, {count, 3, 32, 32});
  HostArray labels = make_array("target", DType::int64, {count});
  for (std::size_t record = 0; record < static_cast<std::size_t>(count); ++record) {
    const char* at = bytes.data() + record * kRecord;
    labels.values<std::int64_t>()[record] = static_cast<unsigned char>(*at);
    std::memcpy(images.bytes.get() + record * kPixels, at + 1, kPixels);
  }
  return InMemoryDataset({{std::move(images), Rescale::unit}, {std::move(labels)}}, origin);
}

}  // namespace

InMemoryDataset read_cifar10(const std::string& folder, const std::string& split) {
  std::string records;
  for (const std::string& name : names_of(split)) records += read_records((std::filesystem::path(folder) / name).string());
  return split_records(records, text(folder, " (", split, ")"));
}

}  // namespace ddpkit
