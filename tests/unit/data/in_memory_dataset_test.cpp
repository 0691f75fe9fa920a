#include "ddpkit/data/in_memory_dataset.hpp"

#include <vector>

#include "ddpkit/base/error.hpp"
#include "errors.hpp"
#include "numbered.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

HostArray labels_of(const std::vector<std::int64_t>& values) {
  HostArray array = make_array("target", DType::int64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), array.values<std::int64_t>().begin());
  return array;
}

}  // namespace

TEST_CASE("rows are gathered in the order of the ids, repeats included") {
  const InMemoryDataset data = numbered(10);
  const std::vector<std::int64_t> ids{7, 0, 7, 9};
  std::vector<float> input(8);
  std::vector<std::int64_t> target(4);
  const std::vector<std::byte*> out{reinterpret_cast<std::byte*>(input.data()), reinterpret_cast<std::byte*>(target.data())};
  data.gather(ids, out);
  CHECK(input == std::vector<float>{7, -7, 0, 0, 7, -7, 9, -9});
  CHECK(target == ids);
}

TEST_CASE("a sample that does not exist is refused by its number") {
  const InMemoryDataset data = numbered(10);
  for (const std::int64_t id : {-1, 10}) {
    const std::vector<std::int64_t> ids{id};
    CHECK_THAT(message_of<DataError>([&] { data.gather(ids, {}); }), mentions("no sample " + std::to_string(id)));
  }
}

TEST_CASE("arrays of different numbers of samples are refused by their names") {
  const auto make = [] {
    return InMemoryDataset({{make_array("input", DType::float32, {3, 2})}, {make_array("target", DType::int64, {4})}});
  };
  CHECK_THAT(message_of<DataError>(make), mentions("'target' has 4") && mentions("'input' 3"));
}

TEST_CASE("a data set without arrays, or of a scalar, is refused") {
  CHECK_THROWS_AS(InMemoryDataset({}), DataError);
  CHECK_THROWS_AS(InMemoryDataset({{make_array("input", DType::float32, {})}}), DataError);
}

TEST_CASE("only bytes can be scaled to the unit interval") {
  CHECK_THROWS_AS(InMemoryDataset({{make_array("input", DType::float32, {3}), Rescale::unit}}), UsageError);
}

TEST_CASE("every byte is scaled as a division by 255 does, in rows of any length") {
  for (const std::int64_t length : {1, 15, 16, 17, 64}) {
    HostArray array = make_array("input", DType::uint8, {256, length});
    const auto bytes = array.values<std::uint8_t>();
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i / static_cast<std::size_t>(length));
    const InMemoryDataset data({{array, Rescale::unit}});
    for (std::int64_t id = 0; id < 256; ++id) {
      std::vector<float> row(static_cast<std::size_t>(length));
      const std::vector<std::int64_t> ids{id};
      const std::vector<std::byte*> out{reinterpret_cast<std::byte*>(row.data())};
      data.gather(ids, out);
      if (row != std::vector<float>(row.size(), static_cast<float>(id) / 255.0F)) FAIL("byte " << id);
    }
  }
}

TEST_CASE("a fingerprint is equal for equal data and differs when size, type, name or content does") {
  const auto of = [](const HostArray& array) { return InMemoryDataset({{array}}).fingerprint(); };
  const auto labels = labels_of({1, 2, 3, 4});
  CHECK(of(labels) == of(labels_of({1, 2, 3, 4})));
  CHECK(of(labels) != of(labels_of({1, 2, 3, 5})));
  CHECK(of(labels) != of(labels_of({1, 2, 3})));
  HostArray renamed = labels;
  renamed.name = "label";
  CHECK(of(labels) != of(renamed));
  HostArray reshaped = labels;
  reshaped.shape = {2, 2};
  CHECK(of(labels) != of(reshaped));
  CHECK(numbered(1).fingerprint() != numbered(0).fingerprint());
  CHECK(numbered(1000).fingerprint() == numbered(1000).fingerprint());
}

TEST_CASE("labels outside the classes are found before training, with sample and label") {
  std::vector<std::int64_t> labels(3000, 9);
  labels[2500] = 10;
  const InMemoryDataset data({{labels_of(labels)}}, "labels.npy");
  CHECK_NOTHROW(require_labels_below(data, 11));
  CHECK_THAT(message_of<DataError>([&] { require_labels_below(data, 10); }),
             mentions("labels.npy") && mentions("sample 2500 has label 10, expected 0 to 9"));
  CHECK_THAT(message_of<DataError>([] {
               require_labels_below(InMemoryDataset({{labels_of({0, -1})}}), 10);
             }),
             mentions("label -1"));
}

TEST_CASE("targets that are no labels are left alone") {
  HostArray regression = make_array("target", DType::float32, {2});
  regression.values<float>()[0] = 1e9F;
  CHECK_NOTHROW(require_labels_below(InMemoryDataset({{regression}}), 10));
  CHECK_NOTHROW(require_labels_below(numbered(5), 5));
}

TEST_CASE("an array is read with its own type only, and no shape can overflow") {
  const HostArray array = make_array("x", DType::float32, {2, 3});
  CHECK(array.elements() == 6);
  CHECK(array.size_bytes() == 24);
  CHECK(reinterpret_cast<std::uintptr_t>(array.bytes.get()) % 64 == 0);
  CHECK_THROWS_AS(array.values<double>(), UsageError);
  CHECK_THROWS_AS(make_array("x", DType::float32, {std::int64_t{1} << 40, std::int64_t{1} << 40}), DataError);
  CHECK_THROWS_AS(make_array("x", DType::float32, {-1}), DataError);
  CHECK(make_array("x", DType::float32, {0, 3}).elements() == 0);
}
