#include "ddpkit/tensor/torch_dataset.hpp"

#include <torch/torch.h>

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

namespace td = torch::data;

/// Sample i is {i, i + 0.5} with target 10 i; the one called `odd_one` has three values.
class CountingDataset : public td::datasets::Dataset<CountingDataset> {
 public:
  explicit CountingDataset(std::size_t size, std::size_t odd_one = 1000) : size_(size), odd_one_(odd_one) {}

  td::Example<> get(std::size_t index) override {
    const auto value = static_cast<double>(index);
    const torch::Tensor input = index == odd_one_ ? torch::zeros(3) : torch::tensor({value, value + 0.5}, torch::kFloat);
    return {input, torch::tensor(static_cast<std::int64_t>(10 * index))};
  }
  std::optional<std::size_t> size() const override { return size_; }

 private:
  std::size_t size_;
  std::size_t odd_one_;
};

struct Rows {
  std::vector<float> input;
  std::vector<std::int64_t> target;
};

Rows gather_rows(const Dataset& dataset, const std::vector<std::int64_t>& ids) {
  Rows rows{std::vector<float>(ids.size() * 2), std::vector<std::int64_t>(ids.size())};
  const std::vector<std::byte*> out{reinterpret_cast<std::byte*>(rows.input.data()),
                                    reinterpret_cast<std::byte*>(rows.target.data())};
  dataset.gather(ids, out);
  return rows;
}

}  // namespace

TEST_CASE("samples of a torch::data set are gathered in the order asked for") {
  const TorchDataset dataset(CountingDataset(5));
  CHECK(dataset.size() == 5);
  REQUIRE(dataset.fields().size() == 2);
  CHECK(dataset.fields()[0].name == "input");
  CHECK(dataset.fields()[0].shape == std::vector<std::int64_t>{2});
  CHECK(dataset.fields()[1].name == "target");
  CHECK(dataset.fields()[1].dtype == DType::int64);
  const Rows rows = gather_rows(dataset, {4, 0, 2});
  CHECK(rows.input == std::vector<float>{4, 4.5, 0, 0.5, 2, 2.5});
  CHECK(rows.target == std::vector<std::int64_t>{40, 0, 20});
}

TEST_CASE("transforms of torch::data are applied, with and without Stack") {
  const td::transforms::Normalize<> halve(0.0, 2.0);
  const TorchDataset plain(CountingDataset(5).map(halve));
  const TorchDataset stacked(CountingDataset(5).map(halve).map(td::transforms::Stack<>()));
  for (const Dataset* dataset : std::initializer_list<const Dataset*>{&plain, &stacked}) {
    const Rows rows = gather_rows(*dataset, {3, 1});
    CHECK(rows.input == std::vector<float>{1.5, 1.75, 0.5, 0.75});
    CHECK(rows.target == std::vector<std::int64_t>{30, 10});
    CHECK(dataset->fields()[1].shape.empty());
  }
}

TEST_CASE("a torch::data set without targets has inputs only") {
  const TorchDataset dataset(td::datasets::TensorDataset(torch::arange(6, torch::kFloat).view({3, 2})));
  CHECK(dataset.size() == 3);
  REQUIRE(dataset.fields().size() == 1);
  std::vector<float> row(2);
  dataset.gather(std::vector<std::int64_t>{2}, std::vector<std::byte*>{reinterpret_cast<std::byte*>(row.data())});
  CHECK(row == std::vector<float>{4, 5});
}

TEST_CASE("a sample unlike the first is refused by its number") {
  const TorchDataset dataset(CountingDataset(5, 3), "counting");
  CHECK_THROWS_WITH(gather_rows(dataset, {2, 3}),
                    Catch::Contains("counting: sample 3 has input of Float [3]") && Catch::Contains("expected Float [2]"));
  CHECK_THROWS_AS(gather_rows(dataset, {5}), DataError);
}

TEST_CASE("an empty torch::data set is refused") {
  CHECK_THROWS_AS(TorchDataset(CountingDataset(0)), DataError);
}
