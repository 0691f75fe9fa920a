#include "ddpkit/checkpoint/safetensors_file.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/random.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "unit/checkpoint/sample_tensors.hpp"

using namespace ddpkit;
using ddpkit::testing::TemporaryFolder;

namespace {

/// A file with that header and `data_bytes` zeros behind it.
std::string file_of(std::string_view header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file.append(header).append(data_bytes, '\0');
}

/// What opening a file of that content says, or "opened".
std::string problem_with(const std::string& content) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.safetensors";
  ddpkit::testing::write_file(path, content);
  try {
    const SafetensorsFile file(path);
    return "opened";
  } catch (const StorageError& error) {
    CHECK(std::string(error.what()).find("x.safetensors") != std::string::npos);
    return error.what();
  }
}

std::string problem_with_header(std::string_view header, std::size_t data_bytes) {
  return problem_with(file_of(header, data_bytes));
}

}  // namespace

TEST_CASE("a file made by Python gives every type, shape and value") {
  const SafetensorsFile file(DDPKIT_GOLDEN_FOLDER "/all_types.safetensors");
  const auto expected = ddpkit::testing::all_types();
  REQUIRE(file.tensors().size() == expected.tensors().size());
  CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}});
  for (const NamedBytes& tensor : expected.tensors()) {
    INFO(tensor.name);
    const NamedBytes* found = file.find(tensor.name);
    REQUIRE(found != nullptr);
    CHECK(found->dtype == tensor.dtype);
    CHECK(found->shape == tensor.shape);
    CHECK(std::ranges::equal(found->bytes, tensor.bytes));
  }
  CHECK(file.find("fc") == nullptr);
}

TEST_CASE("a header padded with spaces opens, and so does a file without tensors") {
  CHECK(problem_with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}     )", 4) == "opened");
  CHECK(problem_with_header("{}", 0) == "opened");
}

TEST_CASE("every broken rule of the format is refused with its name") {
  using Catch::Contains;
  const auto one = [](std::string_view fields) { return "{\"a\":{" + std::string(fields) + "}}"; };
  CHECK_THAT(problem_with("1234567"), Contains("too short"));
  CHECK_THAT(problem_with(std::string(8, '\xff')), Contains("the format allows 100000000"));
  CHECK_THAT(problem_with(file_of("{}", 0).substr(0, 9)), Contains("cut off"));
  CHECK_THAT(problem_with_header(" {}", 0), Contains("does not begin with {"));
  CHECK_THAT(problem_with_header("{\"a\":", 0), Contains("not valid JSON"));
  CHECK_THAT(problem_with_header("{\"a\xff\":1}", 0), Contains("not valid JSON"));
  CHECK_THAT(problem_with_header("{\"a\":" + std::string(100'000, '['), 0), Contains("nested deeper than 3"));
  CHECK_THAT(problem_with_header(R"({"__metadata__":{"a":1}})", 0), Contains("is not a string"));
  CHECK_THAT(problem_with_header(R"({"__metadata__":{"a":"1","a":"2"}})", 0), Contains("\"a\" appears twice"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1)"), 4), Contains("exactly"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"), 4),
             Contains("appears twice"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"I8","shape":[1],"data_offsets":[0,1])"), 1),
             Contains("\"a\": dtype \"I8\" is not supported"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1])"), 1), Contains("F8_E4M3"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4), Contains("holds -1"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), 4), Contains("holds 1.0"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4), Contains("need 8 bytes"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4), Contains("before it begins"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])"), 0),
             Contains("overflows"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"), 4),
             Contains("too large"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8), Contains("belong to no tensor"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 3), Contains("cut off"));
  CHECK_THAT(problem_with_header(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 5), Contains("1 bytes behind"));
  CHECK_THAT(problem_with_header(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                                 R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                                 6),
             Contains("\"b\" overlaps"));
}

TEST_CASE("a missing file, a folder and a pipe are refused") {
  CHECK_THROWS_WITH(SafetensorsFile("/nowhere/x.safetensors"), Catch::Contains("No such file"));
  CHECK_THROWS_AS(SafetensorsFile("/"), StorageError);
  CHECK_THROWS_WITH(SafetensorsFile("/dev/null"), Catch::Contains("not a regular file"));
}

TEST_CASE("2000 damaged copies of a good file open or are refused, and never crash") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "damaged.safetensors";
  const std::string good = ddpkit::testing::read_file(DDPKIT_GOLDEN_FOLDER "/all_types.safetensors");
  CounterRandom random(2000);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = good;
    switch (random.below(4)) {
      case 0: damaged.resize(random.below(damaged.size())); break;
      case 1: damaged[random.below(damaged.size())] ^= static_cast<char>(1 << random.below(8)); break;
      case 2: damaged[random.below(damaged.size())] = static_cast<char>(random.below(256)); break;
      default: damaged.insert(random.below(damaged.size()), 1 + random.below(40), static_cast<char>(random.below(256)));
    }
    ddpkit::testing::write_file(path, damaged);
    try {
      const SafetensorsFile file(path);
      std::size_t bytes = 0;
      for (const NamedBytes& tensor : file.tensors()) bytes += tensor.bytes.size();
      CHECK(bytes < damaged.size());
    } catch (const StorageError&) {
      ++refused;
    }
  }
  CHECK(refused > 1500);
}
