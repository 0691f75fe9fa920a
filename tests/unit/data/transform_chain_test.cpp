#include "ddpkit/data/transform_chain.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/data/normalize.hpp"
#include "ddpkit/data/random_crop.hpp"
#include "ddpkit/data/random_flip.hpp"
#include "errors.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr std::int64_t kChannels = 2, kHeight = 4, kWidth = 5;
constexpr std::int64_t kPixels = kChannels * kHeight * kWidth;
const std::vector<std::int64_t> kShape{kChannels, kHeight, kWidth};

std::vector<float> image() {
  std::vector<float> pixels(static_cast<std::size_t>(kPixels));
  std::iota(pixels.begin(), pixels.end(), 1.0F);
  return pixels;
}

float pixel(const std::vector<float>& image, std::int64_t c, std::int64_t y, std::int64_t x) {
  if (y < 0 || y >= kHeight || x < 0 || x >= kWidth) return 0;
  return image[static_cast<std::size_t>((c * kHeight + y) * kWidth + x)];
}

std::vector<float> shifted(std::int64_t down, std::int64_t right) {
  std::vector<float> out;
  for (std::int64_t c = 0; c < kChannels; ++c)
    for (std::int64_t y = 0; y < kHeight; ++y)
      for (std::int64_t x = 0; x < kWidth; ++x) out.push_back(pixel(image(), c, y + down, x + right));
  return out;
}

std::vector<float> mirrored() {
  std::vector<float> out;
  for (std::int64_t c = 0; c < kChannels; ++c)
    for (std::int64_t y = 0; y < kHeight; ++y)
      for (std::int64_t x = 0; x < kWidth; ++x) out.push_back(pixel(image(), c, y, kWidth - 1 - x));
  return out;
}

std::vector<float> applied(const Transform& transform, std::uint64_t key) {
  std::vector<float> pixels = image();
  CounterRandom random(key);
  transform.apply(pixels, kShape, random);
  return pixels;
}

HostBatch batch_of(const std::vector<std::int64_t>& ids, std::int64_t epoch) {
  HostBatch batch;
  batch.ids = ids;
  batch.rows = static_cast<std::int64_t>(ids.size());
  batch.epoch = epoch;
  batch.arrays.push_back(make_array("input", DType::float32, {batch.rows, kChannels, kHeight, kWidth}));
  for (std::int64_t row = 0; row < batch.rows; ++row)
    std::ranges::copy(image(), batch.arrays[0].values<float>().begin() + row * kPixels);
  return batch;
}

std::map<std::int64_t, std::vector<float>> rows_after(const TransformChain& chain, const std::vector<std::int64_t>& ids,
                                                      std::int64_t epoch) {
  HostBatch batch = batch_of(ids, epoch);
  chain.apply(batch);
  std::map<std::int64_t, std::vector<float>> rows;
  const auto values = batch.arrays[0].values<float>();
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const auto begin = values.begin() + static_cast<std::int64_t>(row) * kPixels;
    rows[ids[row]] = {begin, begin + kPixels};
  }
  return rows;
}

const TransformOptions kAll{.mean = {0.5, 1.0}, .std = {2.0, 4.0}, .crop_padding = 2, .flip = true};

}  // namespace

TEST_CASE("normalising subtracts each channel's mean and divides by its deviation") {
  const auto out = applied(Normalize({1, 2}, {2, 4}), 0);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(out[i] == (image()[i] - 1) / 2);
    CHECK(out[20 + i] == (image()[20 + i] - 2) / 4);
  }
}

TEST_CASE("one mean serves all channels") {
  CHECK(applied(Normalize({3}, {1}), 0).back() == image().back() - 3);
}

TEST_CASE("a random crop is a shifted image with zeros outside, and reaches every shift") {
  std::map<std::vector<float>, int> expected;
  for (std::int64_t down = -2; down <= 2; ++down)
    for (std::int64_t right = -2; right <= 2; ++right) expected[shifted(down, right)] = 0;
  REQUIRE(expected.size() == 25);
  for (std::uint64_t key = 0; key < 1000; ++key) {
    const auto found = expected.find(applied(RandomCrop(2), random_key({key})));
    REQUIRE(found != expected.end());
    ++found->second;
  }
  for (const auto& [pixels, count] : expected) CHECK(count > 10);
}

TEST_CASE("padding larger than the image may shift it out of sight, but never reads outside") {
  for (std::uint64_t key = 0; key < 300; ++key) {
    const auto out = applied(RandomCrop(9), random_key({key}));
    CHECK(std::all_of(out.begin(), out.end(), [](float x) { return x >= 0 && x <= kPixels; }));
  }
}

TEST_CASE("about half of the images are mirrored left to right") {
  int flipped = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    const auto out = applied(RandomFlip(), random_key({key}));
    REQUIRE((out == image() || out == mirrored()));
    flipped += out == mirrored() ? 1 : 0;
  }
  CHECK(flipped > 420);
  CHECK(flipped < 580);
}

TEST_CASE("what happens to a sample depends on seed, epoch and sample, not on the batch it is in") {
  const TransformChain chain = make_transforms(kAll, Phase::train, 5);
  const auto together = rows_after(chain, {3, 1, 4, 15, 9, 2}, 1);
  for (const auto& [id, row] : together) CHECK(rows_after(chain, {id}, 1).at(id) == row);
  CHECK(rows_after(chain, {2, 9, 15, 4, 1, 3}, 1) == together);
  CHECK(rows_after(chain, {3, 1, 4, 15, 9, 2}, 2) != together);
  CHECK(rows_after(make_transforms(kAll, Phase::train, 6), {3, 1, 4, 15, 9, 2}, 1) != together);
  CHECK(together.at(3) != together.at(1));
}

TEST_CASE("evaluation normalises and changes nothing at random") {
  const TransformChain chain = make_transforms(kAll, Phase::evaluate, 5);
  const auto expected = applied(Normalize(kAll.mean, kAll.std), 0);
  for (const std::int64_t epoch : {0, 1})
    for (const auto& [id, row] : rows_after(chain, {0, 1, 2, 3}, epoch)) CHECK(row == expected);
}

TEST_CASE("options without any change make an empty chain, which accepts any data") {
  const TransformChain chain = make_transforms({}, Phase::train, 5);
  CHECK(chain.empty());
  CHECK_NOTHROW(chain.check({}));
}

TEST_CASE("transforms that do not fit the data are refused by the option") {
  const auto check = [](const TransformOptions& options, const std::vector<FieldSpec>& fields) {
    return message_of<ConfigError>([&] { make_transforms(options, Phase::train, 0).check(fields); });
  };
  const std::vector<FieldSpec> image{{"input", DType::float32, {3, 8, 8}}};
  const std::vector<FieldSpec> flat{{"input", DType::float32, {64}}};
  CHECK(check({.mean = {0.1, 0.2, 0.3}, .std = {1, 1, 1}, .crop_padding = 1, .flip = true}, image).empty());
  CHECK_THAT(check({.mean = {0.1, 0.2}, .std = {1, 1}}, image),
             mentions("data.transform.mean: 2 values") && mentions("3 x 8 x 8"));
  CHECK_THAT(check({.crop_padding = 1}, flat), mentions("data.transform.crop_padding"));
  CHECK_THAT(check({.flip = true}, flat), mentions("data.transform.flip"));
  CHECK_THAT(check({.flip = true}, {{"input", DType::uint8, {3, 8, 8}}}), mentions("uint8"));
  CHECK_THAT(check({.flip = true}, {{"pixels", DType::float32, {3, 8, 8}}}), mentions("no field named input"));
}

TEST_CASE("values that no normalisation has are refused") {
  CHECK_THROWS_AS(Normalize({1, 2}, {1}), ConfigError);
  CHECK_THROWS_AS(Normalize({}, {}), ConfigError);
  CHECK_THROWS_AS(Normalize({1}, {0}), ConfigError);
  CHECK_THROWS_AS(RandomCrop(-1), ConfigError);
  CHECK_THROWS_AS(make_transforms({.mean = {1}}, Phase::train, 0), ConfigError);
}

TEST_CASE("a batch without rows passes a chain unharmed") {
  HostBatch batch;
  make_transforms(kAll, Phase::train, 5).apply(batch);
  CHECK(batch.arrays.empty());
}
