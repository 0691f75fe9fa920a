#include <string>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/data/cifar10.hpp"
#include "ddpkit/data/csv.hpp"
#include "ddpkit/data/npy.hpp"
#include "ddpkit/data/open_dataset.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

template <class T>
std::vector<T> column(const InMemoryDataset& data, std::size_t index) {
  const auto values = data.columns()[index].array.values<T>();
  return {values.begin(), values.end()};
}

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  const std::string header = dictionary + "\n";
  std::string bytes = "\x93NUMPY" + std::string{static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string npy_of(const std::string& dtype, const std::string& shape, const std::string& data, int version = 1) {
  return npy("{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + shape + ", }", data, version);
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string npy_error(const std::string& bytes) {
  const files::TemporaryFolder folder;
  const std::string path = files::write(folder / "x.npy", bytes);
  const std::string message = message_of<DataError>([&] { read_npy_array(path, "input"); });
  CHECK_THAT(message, mentions(path));
  return message;
}

InMemoryDataset csv_of(const std::string& content, const std::string& target) {
  const files::TemporaryFolder folder;
  return read_csv(files::write(folder / "x.csv", content), target);
}

std::string csv_error(const std::string& content) {
  return message_of<DataError>([&] { csv_of(content, "y"); });
}

std::string cifar_record(int label, char pixel) {
  return static_cast<char>(label) + std::string(3072, pixel);
}

}  // namespace

TEST_CASE("arrays that NumPy saved are read in every version of the format") {
  const files::TemporaryFolder folder;
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  for (const int version : {1, 2, 3}) {
    files::write(folder / "x.npy", npy_of("<f4", "(3, 2)", raw(values), version));
    const HostArray array = read_npy_array(folder / "x.npy", "input");
    CHECK(array.shape == std::vector<std::int64_t>{3, 2});
    CHECK(std::vector<float>(array.values<float>().begin(), array.values<float>().end()) == values);
  }
}

TEST_CASE("arrays are handed out in the dtype they were saved with") {
  const files::TemporaryFolder folder;
  const std::vector<std::pair<std::string, DType>> dtypes{{"<f8", DType::float64}, {"<f2", DType::float16},
                                                          {"<i4", DType::int32},   {"<i8", DType::int64},
                                                          {"|u1", DType::uint8},   {"<f4", DType::float32}};
  for (const auto& [name, dtype] : dtypes) {
    files::write(folder / "x.npy", npy_of(name, "(4,)", std::string(4 * size_of(dtype), '\1')));
    CHECK(read_npy_array(folder / "x.npy", "input").dtype == dtype);
  }
}

TEST_CASE("inputs and targets out of two .npy files make a data set") {
  const files::TemporaryFolder folder;
  files::write(folder / "x.npy", npy_of("<f4", "(3, 2)", raw(std::vector<float>{1, 2, 3, 4, 5, 6})));
  files::write(folder / "y.npy", npy_of("<i8", "(3,)", raw(std::vector<std::int64_t>{7, 8, 9})));
  const auto data = open_dataset({.format = DataFormat::npy, .path = folder / "x.npy", .target = folder / "y.npy"});
  CHECK(data->size() == 3);
  CHECK(data->fields()[0].shape == std::vector<std::int64_t>{2});
  CHECK(data->fields()[1].name == "target");
  files::write(folder / "y.npy", npy_of("<i8", "(2,)", raw(std::vector<std::int64_t>{7, 8})));
  CHECK_THAT(message_of<DataError>([&] { read_npy(folder / "x.npy", folder / "y.npy"); }), mentions("belong together"));
}

TEST_CASE("what an .npy file may be but ddpkit cannot read is refused by name") {
  CHECK_THAT(npy_error(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", "12345678")), mentions("Fortran order"));
  CHECK_THAT(npy_error(npy_of(">f4", "(2,)", "12345678")), mentions("'>f4'") && mentions("big-endian"));
  CHECK_THAT(npy_error(npy_of("<i2", "(2,)", "1234")), mentions("'<i2'"));
  CHECK_THAT(npy_error(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "12345678")),
             mentions("records"));
  CHECK_THAT(npy_error(npy_of("<f4", "(2,)", "12345678", 4)), mentions("version 4"));
}

TEST_CASE("a damaged .npy file is refused, at whatever byte it ends") {
  const std::string whole = npy_of("<f4", "(2,)", "12345678");
  for (std::size_t length = 0; length < whole.size(); ++length) CHECK(!npy_error(whole.substr(0, length)).empty());
  CHECK_THAT(npy_error("PK\3\4 this is a zip, as .npz is"), mentions("NUMPY"));
  CHECK_THAT(npy_error(whole + "x"), mentions("longer"));
  CHECK_THAT(npy_error(npy_of("<f4", "(99999999999999, 99999999999999)", "12345678")), mentions("2^63"));
  CHECK_THAT(npy_error(npy_of("<f4", "(99999999999999999999,)", "12345678")), mentions("shape"));
  CHECK_THAT(npy_error(npy_of("<f4", "(-2,)", "12345678")), mentions("shape"));
  CHECK_THAT(npy_error(npy_of("<f4", "2", "12345678")), mentions("shape"));
  CHECK_THAT(npy_error(npy("{'descr': '<f4', 'shape': (2,), }", "12345678")), mentions("fortran_order"));
}

TEST_CASE("a CSV file gives its target column and all others as inputs") {
  const InMemoryDataset data = csv_of("a,y,b\n1,0,2.5\n-3e2,1,+4\r\n 5 ,2, 6\n", "y");
  CHECK(data.fields()[0].shape == std::vector<std::int64_t>{2});
  CHECK(column<float>(data, 0) == std::vector<float>{1, 2.5, -300, 4, 5, 6});
  CHECK(column<std::int64_t>(data, 1) == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("targets that are not all whole numbers are float32") {
  CHECK(column<float>(csv_of("y,a\n1,0\n1.5,0\n", "y"), 1) == std::vector<float>{1, 1.5});
  CHECK(column<float>(csv_of("y,a\n1e3,0\n", "y"), 1) == std::vector<float>{1000});
}

TEST_CASE("quoted fields hold commas, quotes and line ends") {
  const InMemoryDataset data = csv_of("\xef\xbb\xbf\"a, \"\"b\"\"\nc\",y\n\"1\",\"2\"\n\n3,4", "y");
  CHECK(column<float>(data, 0) == std::vector<float>{1, 3});
  CHECK(column<std::int64_t>(data, 1) == std::vector<std::int64_t>{2, 4});
  CHECK_THAT(message_of<ConfigError>([] { csv_of("\"a, \"\"b\"\"\",y\n1,2\n", "label"); }), mentions("a, \"b\""));
}

TEST_CASE("what is no number is refused with line and column") {
  CHECK_THAT(csv_error("a,y\n1,2\n3,four\n"), mentions("line 3, column 2 (y)") && mentions("'four'"));
  CHECK_THAT(csv_error("a,y\n,2\n"), mentions("line 2, column 1 (a)"));
  CHECK_THAT(csv_error("a,y\n1,2\n\"1\n\",2\n\n5 6,1\n"), mentions("line 3, column 1"));
  CHECK_THAT(csv_error("a,y\n1,2\n1x,2\n"), mentions("'1x'"));
  CHECK_THAT(csv_error("a,y\nnan,2\n"), mentions("finite"));
  CHECK_THAT(csv_error("a,y\n1e999,2\n"), mentions("'1e999'"));
}

TEST_CASE("lines of the wrong length, open quotes and empty files are refused with the line") {
  CHECK_THAT(csv_error("a,y\n1,2\n1,2,3\n"), mentions("line 3: 3 fields, expected 2"));
  CHECK_THAT(csv_error("a,y\n1\n"), mentions("line 2: 1 fields"));
  CHECK_THAT(csv_error("a,y\n1,\"2\n"), mentions("line 2") && mentions("not closed"));
  CHECK_THAT(csv_error("a,y\n1,\"2\"x\n"), mentions("line 2") && mentions("'x'"));
  CHECK_THAT(csv_error(""), mentions("empty"));
  CHECK_THAT(csv_error("y\n1\n"), mentions("one column"));
}

TEST_CASE("a target column that does not exist is answered with the nearest one") {
  CHECK_THAT(message_of<ConfigError>([] { csv_of("price,area\n1,2\n", "prize"); }), mentions("did you mean 'price'"));
}

TEST_CASE("CIFAR-10 is read batch after batch") {
  const files::TemporaryFolder folder;
  for (int i = 1; i <= 5; ++i)
    files::write(folder / ("data_batch_" + std::to_string(i) + ".bin"),
                 cifar_record(i, static_cast<char>(i)) + cifar_record(0, '\377'));
  files::write(folder / "test_batch.bin", cifar_record(9, '\0'));
  const auto train = open_dataset({.format = DataFormat::cifar10, .path = folder.string(), .split = "train"});
  CHECK(train->size() == 10);
  CHECK(train->fields()[0].shape == std::vector<std::int64_t>{3, 32, 32});
  std::vector<float> input(3072);
  std::int64_t target = 0;
  const std::vector<std::int64_t> ids{4};
  const std::vector<std::byte*> out{reinterpret_cast<std::byte*>(input.data()), reinterpret_cast<std::byte*>(&target)};
  train->gather(ids, out);
  CHECK(target == 3);
  CHECK(input == std::vector<float>(3072, 3 / 255.0F));
  CHECK(read_cifar10(folder.string(), "test").size() == 1);
}

TEST_CASE("CIFAR-10 files that are missing, cut off or wrong are refused by name") {
  const files::TemporaryFolder folder;
  const auto error = [&] { return message_of<DataError>([&] { read_cifar10(folder.string(), "test"); }); };
  CHECK_THAT(error(), mentions(folder / "test_batch.bin") && mentions("no such file"));
  files::write(folder / "test_batch.bin", cifar_record(1, 'x').substr(0, 3000));
  CHECK_THAT(error(), mentions("3000 bytes") && mentions("3073"));
  files::write(folder / "test_batch.bin", cifar_record(1, 'x') + cifar_record(10, 'x'));
  CHECK_THAT(error(), mentions("record 1 has label 10"));
  CHECK_THROWS_AS(read_cifar10(folder.string(), "valid"), ConfigError);
}

TEST_CASE("a section that lacks what its format needs is refused by the key") {
  CHECK_THAT(message_of<ConfigError>([] { open_dataset({}); }), mentions("data.format: none"));
  CHECK_THAT(message_of<ConfigError>([] { open_dataset({.format = DataFormat::idx}); }), mentions("data.path"));
  CHECK_THAT(message_of<ConfigError>([] { open_dataset({.format = DataFormat::npy, .path = "x"}); }), mentions("data.target"));
  CHECK_THAT(message_of<ConfigError>([] { open_dataset({.format = DataFormat::csv, .path = "x"}); }), mentions("data.target"));
  CHECK_THAT(message_of<DataError>([] { open_dataset({.format = DataFormat::csv, .path = "/no/such.csv", .target = "y"}); }),
             mentions("/no/such.csv"));
}
