#include "ddpkit/data/idx.hpp"

#include <numeric>
#include <string>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

std::string header(std::uint8_t dimensions, const std::vector<std::uint32_t>& shape, char type = 0x08) {
  std::string bytes{'\0', '\0', type, static_cast<char>(dimensions)};
  for (const std::uint32_t extent : shape)
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(extent >> shift & 0xff);
  return bytes;
}

std::string images(std::uint32_t count) {
  std::string bytes = header(3, {count, 2, 3});
  for (std::uint32_t i = 0; i < count * 6; ++i) bytes += static_cast<char>(i % 256);
  return bytes;
}

std::string labels(std::uint32_t count) {
  std::string bytes = header(1, {count});
  for (std::uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(i % 10);
  return bytes;
}

struct Gathered {
  std::vector<float> input;
  std::vector<std::int64_t> target;
};

Gathered gather(const Dataset& data, const std::vector<std::int64_t>& ids) {
  Gathered out{std::vector<float>(ids.size() * static_cast<std::size_t>(data.fields()[0].elements())),
               std::vector<std::int64_t>(ids.size())};
  const std::vector<std::byte*> columns{reinterpret_cast<std::byte*>(out.input.data()),
                                        reinterpret_cast<std::byte*>(out.target.data())};
  data.gather(ids, columns);
  return out;
}

class Pair {
 public:
  explicit Pair(const std::string& image_bytes = images(50), const std::string& label_bytes = labels(50)) {
    files::write(files_.images, image_bytes);
    files::write(files_.labels, label_bytes);
  }
  const IdxFiles& files() const { return files_; }
  std::string error() const {
    return message_of<DataError>([&] { read_idx(files_); });
  }

 private:
  files::TemporaryFolder folder_;
  IdxFiles files_{folder_ / "images", folder_ / "labels"};
};

}  // namespace

TEST_CASE("images become floats between 0 and 1, labels int64") {
  const Pair pair;
  const InMemoryDataset data = read_idx(pair.files());
  REQUIRE(data.size() == 50);
  CHECK(data.fields()[0].name == "input");
  CHECK(data.fields()[0].dtype == DType::float32);
  CHECK(data.fields()[0].shape == std::vector<std::int64_t>{1, 2, 3});
  CHECK(data.fields()[1].name == "target");
  CHECK(data.fields()[1].dtype == DType::int64);
  CHECK(data.fields()[1].shape.empty());
  const Gathered got = gather(data, {43, 0});
  for (int i = 0; i < 6; ++i) CHECK(got.input[static_cast<std::size_t>(i)] == static_cast<float>((43 * 6 + i) % 256) / 255.0F);
  CHECK(got.input[6] == 0.0F);
  CHECK(got.target == std::vector<std::int64_t>{3, 0});
}

TEST_CASE("a folder and a prefix find the files, plain or gzip, in both spellings") {
  for (const std::string dash : {"-", "."})
    for (const std::string ending : {"", ".gz"}) {
      const files::TemporaryFolder folder;
      const auto write = ending.empty() ? files::write : files::write_gzip;
      write(folder / ("t10k-images" + dash + "idx3-ubyte" + ending), images(5));
      write(folder / ("t10k-labels" + dash + "idx1-ubyte" + ending), labels(5));
      CHECK(read_idx(find_idx(folder.string(), "t10k")).size() == 5);
      CHECK(read_idx(find_idx(folder / ("t10k-images" + dash + "idx3-ubyte" + ending), "")).size() == 5);
      CHECK_THAT(message_of<DataError>([&] { find_idx(folder.string(), "train"); }), mentions(folder / "train-images"));
    }
}

TEST_CASE("a folder without a split is a mistake in the configuration") {
  const files::TemporaryFolder folder;
  CHECK_THAT(message_of<ConfigError>([&] { find_idx(folder.string(), ""); }), mentions("split"));
}

TEST_CASE("missing Fashion-MNIST comes with the way to get it") {
  const files::TemporaryFolder folder;
  const std::string there = folder / "fashion-mnist";
  const std::string hint = "apt install dataset-fashion-mnist";
  CHECK_THAT(message_of<DataError>([&] { find_idx(there, "train"); }), mentions(hint) && mentions(there));
  std::filesystem::create_directory(there);
  CHECK_THAT(message_of<DataError>([&] { find_idx(there, "train"); }), mentions(hint) && mentions(there));
  CHECK_THAT(message_of<DataError>([&] { find_idx(folder / "elsewhere", "train"); }), !mentions("apt"));
}

TEST_CASE("a plain file that is cut off is refused by its path, at whatever byte it ends") {
  const std::string whole = images(5);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Pair pair(whole.substr(0, length), labels(5));
    CHECK_THAT(pair.error(), mentions(pair.files().images) && mentions("cut off"));
  }
}

TEST_CASE("a gzip file that is cut off is refused by its path, at whatever byte it ends") {
  const files::TemporaryFolder folder;
  const IdxFiles files{folder / "images.gz", folder / "labels"};
  files::write(files.labels, labels(500));
  files::write_gzip(files.images, images(500));
  const std::string whole = files::read(files.images);
  for (std::size_t length = 1; length < whole.size(); length += 1 + length / 30) {
    files::write(files.images, std::string_view(whole).substr(0, length));
    CHECK_THAT(message_of<DataError>([&] { read_idx(files); }), mentions(files.images));
  }
}

TEST_CASE("a flipped bit in a gzip file is found by its checksum") {
  const files::TemporaryFolder folder;
  const IdxFiles files{folder / "images.gz", folder / "labels"};
  files::write(files.labels, labels(500));
  files::write_gzip(files.images, images(500));
  std::string bytes = files::read(files.images);
  bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] ^ 4);
  files::write(files.images, bytes);
  CHECK_THAT(message_of<DataError>([&] { read_idx(files); }), mentions("is damaged"));
}

TEST_CASE("what is no IDX file, or not of bytes, is refused with what was expected") {
  CHECK_THAT(Pair("this is text, not a set of images").error(), mentions("not an IDX file") && mentions("2051"));
  CHECK_THAT(Pair(header(3, {1, 1, 1}, 0x0d) + "....").error(), mentions("type 13"));
  CHECK_THAT(Pair(labels(50)).error(), mentions("swapped"));
  CHECK_THAT(Pair(images(50), images(50)).error(), mentions("one label per sample"));
}

TEST_CASE("a header that promises more than a file can hold is refused before memory is asked for") {
  CHECK_THAT(Pair(header(3, {0xffffffff, 0xffffffff, 0xffffffff})).error(), mentions("2^63"));
  CHECK_THAT(Pair(header(3, {0x7fffffff, 28, 28})).error(), mentions("cannot hold"));
}

TEST_CASE("bytes after the last image are refused") {
  CHECK_THAT(Pair(images(50) + "x").error(), mentions("longer than its header says"));
}

TEST_CASE("images and labels of different counts are refused with both counts and files") {
  const Pair pair(images(50), labels(49));
  CHECK_THAT(pair.error(), mentions("50 images") && mentions("49 labels") && mentions(pair.files().labels));
}

TEST_CASE("a folder in the place of a file is refused") {
  const files::TemporaryFolder folder;
  CHECK_THAT(message_of<DataError>([&] { read_idx({folder.string(), folder.string()}); }), mentions("is not a file"));
}

TEST_CASE("Fashion-MNIST is read where the machine has it") {
  const std::string folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) return;
  const InMemoryDataset data = read_idx(find_idx(folder, "t10k"));
  CHECK(data.size() == 10'000);
  CHECK(data.fields()[0].shape == std::vector<std::int64_t>{1, 28, 28});
  CHECK_NOTHROW(require_labels_below(data, 10));
  CHECK_THROWS_AS(require_labels_below(data, 9), DataError);
  CHECK(gather(data, {0}).target.front() == 9);  // an ankle boot
}
