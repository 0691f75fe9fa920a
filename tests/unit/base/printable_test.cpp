#include "ddpkit/base/printable.hpp"

#include <string>

#include "support/catch.hpp"

using namespace ddpkit;

TEST_CASE("printable text shows control characters instead of obeying them") {
  CHECK(printable("plain text") == "plain text");
  CHECK(printable("\x1b[2Jgone") == "\\x1b[2Jgone");
  CHECK(printable("a\rb\x7f") == "a\\x0db\\x7f");
  CHECK(printable("a\tb") == "a b");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\xc2\x9b"
                  "2J") == "\\xc2\\x9b2J");
}

TEST_CASE("printable text keeps UTF-8 and shows bytes that are none") {
  CHECK(printable("Größe 学習 🙂") == "Größe 学習 🙂");
  CHECK(printable("\xff"
                  "a") == "\\xffa");
  CHECK(printable("\xe5\xad") == "\\xe5\\xad");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");           // over-long slash
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
}

TEST_CASE("the length of a UTF-8 character is read from its first byte and checked against the rest") {
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("ö") == 2);
  CHECK(utf8_length("学習") == 3);
  CHECK(utf8_length("🙂") == 4);
  CHECK(utf8_length("\xe5"
                    "aa") == 0);
}
