#include "harness/add_rate.hpp"

#include "harness/add.hpp"
#include "harness/rounds.hpp"

namespace bench {

double AddRate::seconds(int iterations) {
  add(to_.data.get(), from_.data.get(), to_.size);
  return seconds_of([&] {
    for (int i = 0; i < iterations; ++i) add(to_.data.get(), from_.data.get(), to_.size);
  });
}

}  // namespace bench
