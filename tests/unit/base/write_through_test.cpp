#include "base/write_through.hpp"

#include <numeric>
#include <vector>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("what is written past the caches arrives whole, wherever it begins and ends, and nothing else is touched") {
  std::vector<unsigned char> from(5000);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  for (const std::size_t to_offset : {0, 1, 4, 63, 64, 100})
    for (const std::size_t from_offset : {0, 3, 64})
      for (const std::size_t bytes : {0, 1, 63, 64, 1023, 1024, 1025, 1087, 4096, 4100}) {
        std::vector<unsigned char> to(6000, 0);
        write_through(to.data() + to_offset, from.data() + from_offset, bytes);
        finish_writing_through();
        std::vector<unsigned char> expected(to.size(), 0);
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_offset), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(to_offset));
        REQUIRE(to == expected);
      }
}
