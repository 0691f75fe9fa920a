#include "comm/reduce_kernels.hpp"

#include <vector>

#include "comm/element.hpp"
#include "support/catch.hpp"
#include "support/comm_values.hpp"

namespace ddpkit {
namespace {

using testing::combined_at;
using testing::kAllOps;
using testing::values_of;

template <class T>
std::vector<std::vector<T>> copies_of(int ranks, std::size_t count) {
  std::vector<std::vector<T>> copies;
  for (int rank = 0; rank < ranks; ++rank) copies.push_back(values_of<T>(rank, count));
  return copies;
}

template <class T>
std::vector<std::byte*> bytes_of(std::vector<std::vector<T>>& copies) {
  std::vector<std::byte*> bytes;
  for (auto& copy : copies) bytes.push_back(reinterpret_cast<std::byte*>(copy.data()));
  return bytes;
}

template <class T>
void check_in_place(int ranks, std::size_t count, ReduceOp op) {
  auto copies = copies_of<T>(ranks, count);
  const std::vector<std::byte*> all = bytes_of(copies);
  reduce_onto({all.data(), all.size()}, all, dtype_of<T>, op, count);
  for (const auto& copy : copies)
    for (std::size_t i = 0; i < count; ++i)
      REQUIRE(testing::decode(copy[i]) == testing::decode(testing::encode<T>(combined_at<T>(ranks, i, op))));
}

TEST_CASE("every type is combined by every operation onto all copies, in pieces or not") {
  for (const int ranks : {1, 2, 3, 4, 7})
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{5000}})
      for (const ReduceOp op : kAllOps)
        for (const DType dtype :
             {DType::float32, DType::float64, DType::bfloat16, DType::float16, DType::int32, DType::int64, DType::uint8})
          if (op != ReduceOp::mean || is_floating(dtype))
            with_element(dtype, [&]<class T>() { check_in_place<T>(ranks, count, op); });
}

TEST_CASE("the bits do not depend on how elements are cut into pieces") {
  constexpr std::size_t kCount = 10'000;
  std::vector<std::vector<float>> whole(3, std::vector<float>(kCount));
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t i = 0; i < kCount; ++i) whole[r][i] = 1.0F / static_cast<float>(3 * i + r + 1);
  auto pieces = whole;
  const auto all = bytes_of(whole);
  reduce_onto({all.data(), all.size()}, all, DType::float32, ReduceOp::sum, kCount);
  for (std::size_t first = 0; first < kCount; first += 37) {
    std::vector<std::byte*> part = bytes_of(pieces);
    for (std::byte*& copy : part) copy += first * sizeof(float);
    reduce_onto({part.data(), part.size()}, part, DType::float32, ReduceOp::sum, std::min<std::size_t>(37, kCount - first));
  }
  CHECK(whole == pieces);
}

}  // namespace
}  // namespace ddpkit
