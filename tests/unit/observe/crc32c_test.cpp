#include "observe/crc32c.hpp"

#include <string>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("CRC-32C gives the values of RFC 3720, appendix B.4") {
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aaU);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43U);
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) {
    ascending += static_cast<char>(i);
    descending += static_cast<char>(31 - i);
  }
  CHECK(crc32c(ascending) == 0x46dd794eU);
  CHECK(crc32c(descending) == 0x113fdb5cU);
  CHECK(crc32c("123456789") == 0xe3069283U);
  CHECK(crc32c("") == 0);
}

TEST_CASE("the mask rotates by 15 bits and adds TensorFlow's constant") {
  CHECK(masked_crc32c("123456789") == 0xc78ab0e5U);
}
