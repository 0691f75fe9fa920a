#include "ddpkit/batch/leak_watch.hpp"

#include <initializer_list>

#include "support/catch.hpp"

using ddpkit::LeakWatch;

namespace {

LeakWatch after(std::initializer_list<std::int64_t> live) {
  LeakWatch watch;
  for (const std::int64_t bytes : live) watch.observe(bytes);
  return watch;
}

}  // namespace

TEST_CASE("memory that grows in each of eight steps is a leak, of all that was added since growth began") {
  CHECK(after({10, 11, 12, 13, 14, 15, 16, 17}).growth() == 0);  // seven steps
  CHECK(after({10, 11, 12, 13, 14, 15, 16, 17, 20}).growth() == 10);
  CHECK(after({90, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21}).growth() == 11);
}

TEST_CASE("memory that stands still or falls once is no leak, and counting begins anew") {
  CHECK(after({}).growth() == 0);
  CHECK(after({10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}).growth() == 0);
  CHECK(after({10, 11, 12, 13, 14, 15, 16, 17, 17, 18}).growth() == 0);
  CHECK(after({10, 11, 12, 13, 14, 15, 16, 17, 16, 17, 18, 19, 20, 21, 22, 23}).growth() == 0);
}
