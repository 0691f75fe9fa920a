#include "ddpkit/data/order.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "chi_square.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/data/make_order.hpp"
#include "errors.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

std::vector<std::int64_t> epoch_of(const Order& order, std::int64_t epoch) {
  std::vector<std::int64_t> ids;
  for (std::int64_t position = 0; position < order.size(); ++position) ids.push_back(order.at(epoch, position));
  return ids;
}

std::vector<std::int64_t> sorted(std::vector<std::int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::int64_t> counting_to(std::int64_t size) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < size; ++i) ids.push_back(i);
  return ids;
}

}  // namespace

TEST_CASE("epochs and seeds give different orders, the same ones the same order") {
  for (const OrderKind kind : {OrderKind::shuffle, OrderKind::blocks}) {
    std::set<std::vector<std::int64_t>> orders;
    for (const std::uint64_t seed : {0, 1, 2})
      for (const std::int64_t epoch : {0, 1, 2})
        orders.insert(epoch_of(*make_order(100, {.kind = kind, .seed = seed, .block = 7}), epoch));
    CHECK(orders.size() == 9);
    const auto again = [&] { return epoch_of(*make_order(100, {.kind = kind, .seed = 3, .block = 7}), 5); };
    CHECK(again() == again());
  }
}

TEST_CASE("a shuffled epoch holds every sample once") {
  for (const std::int64_t epoch : {0, 1, 17})
    CHECK(sorted(epoch_of(*make_order(1234, {.seed = 5}), epoch)) == counting_to(1234));
}

TEST_CASE("the sequential order is the data set's own in every epoch") {
  const auto order = make_order(20, {.kind = OrderKind::sequential, .seed = 5});
  CHECK(epoch_of(*order, 0) == counting_to(20));
  CHECK(epoch_of(*order, 3) == counting_to(20));
}

TEST_CASE("the order blocks holds every sample once and keeps runs together, whatever the length of the last run") {
  for (const std::int64_t size : {1, 5, 6, 7, 12, 13, 100, 101})
    for (const std::int64_t block : {1, 2, 6, 7, 1000}) {
      const auto ids = epoch_of(*make_order(size, {.kind = OrderKind::blocks, .seed = 2, .block = block}), 1);
      INFO("size " << size << ", block " << block);
      CHECK(sorted(ids) == counting_to(size));
      std::int64_t changes = 0;
      for (std::size_t i = 1; i < ids.size(); ++i) changes += ids[i] / block != ids[i - 1] / block ? 1 : 0;
      CHECK(changes == (size - 1) / block);
    }
}

TEST_CASE("the short run of the order blocks may stand anywhere") {
  std::set<std::int64_t> places;
  const auto order = make_order(10, {.kind = OrderKind::blocks, .seed = 2, .block = 4});
  for (std::int64_t epoch = 0; epoch < 100; ++epoch) {
    const auto ids = epoch_of(*order, epoch);
    places.insert(std::find_if(ids.begin(), ids.end(), [](std::int64_t id) { return id >= 8; }) - ids.begin());
  }
  CHECK(places == std::set<std::int64_t>{0, 4, 8});
}

TEST_CASE("a run of the order blocks is longer than nothing") {
  CHECK_THROWS_AS(make_order(10, {.kind = OrderKind::blocks, .block = 0}), ConfigError);
}

TEST_CASE("the weighted order draws samples in proportion to their weights") {
  const std::vector<double> weights{0, 1, 2, 3, 0, 4};
  const auto order = make_order(6, {.kind = OrderKind::weighted, .seed = 11, .weights = weights});
  std::vector<std::int64_t> counts(6);
  for (std::int64_t epoch = 0; epoch < 20'000; ++epoch)
    for (const std::int64_t id : epoch_of(*order, epoch)) ++counts[static_cast<std::size_t>(id)];
  for (std::size_t id = 0; id < 6; ++id)
    CHECK(static_cast<double>(counts[id]) / 120'000 == Approx(weights[id] / 10).margin(0.005));
}

TEST_CASE("equal weights draw every sample equally often") {
  const auto order = make_order(64, {.kind = OrderKind::weighted, .seed = 1, .weights = std::vector<double>(64, 0.1)});
  std::vector<std::int64_t> counts(64);
  for (std::int64_t epoch = 0; epoch < 1000; ++epoch)
    for (const std::int64_t id : epoch_of(*order, epoch)) ++counts[static_cast<std::size_t>(id)];
  CHECK(chi_square_sigmas(counts, 63) < 5);
}

TEST_CASE("weights that no distribution has are refused by their place") {
  const auto make = [](std::vector<double> weights) {
    const auto size = static_cast<std::int64_t>(weights.size());
    return make_order(size, {.kind = OrderKind::weighted, .weights = std::move(weights)});
  };
  CHECK_THAT(message_of<DataError>([&] { make({1, -2}); }), mentions("weight of sample 1"));
  CHECK_THAT(message_of<DataError>([&] { make({1, 2, NAN}); }), mentions("weight of sample 2"));
  CHECK_THAT(message_of<DataError>([&] { make({0, 0}); }), mentions("sum to 0"));
  CHECK_THAT(message_of<ConfigError>([&] { make_order(3, {.kind = OrderKind::weighted, .weights = {1.0}}); }),
             mentions("each of 3 samples, got 1"));
}
