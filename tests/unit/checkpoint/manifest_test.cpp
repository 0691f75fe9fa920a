#include "ddpkit/checkpoint/manifest.hpp"

#include <cmath>

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

Manifest sample_manifest() {
  Manifest manifest;
  manifest.step = 120;
  manifest.world_size = 4;
  manifest.sequence = 7;
  manifest.standing = Standing::best;
  manifest.sampler = {.epoch = 3, .position = 1024, .global = 512, .changes = {{.epoch = 2, .position = 0, .global = 512}}};
  manifest.ddpkit_version = "0.1.0";
  manifest.values = {{"best/value", "0.25"}, {"näme", "a \"quoted\"\nline"}};
  manifest.files = {{.name = "model.safetensors", .size = 9'000'000'000, .digest = std::string(32, 'a')}};
  return manifest;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a manifest comes back as it was written") {
  CHECK(parse_manifest(format_manifest(sample_manifest()), "here") == sample_manifest());
}

TEST_CASE("no flipped bit of a manifest changes what is read") {
  const std::string good = format_manifest(sample_manifest());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string damaged = good;
    damaged[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    try {
      if (parse_manifest(damaged, "here") != sample_manifest()) FAIL("bit " << bit << " was not noticed");
    } catch (const StorageError&) {
    }
  }
}

TEST_CASE("no cut-off manifest is read") {
  const std::string good = format_manifest(sample_manifest());
  for (std::size_t length = 0; length + 2 < good.size(); ++length)
    CHECK_THROWS_AS(parse_manifest(good.substr(0, length), "here"), StorageError);
}

TEST_CASE("a manifest of a newer format and one edited by hand say so") {
  const std::string good = format_manifest(sample_manifest());
  CHECK_THROWS_WITH(parse_manifest(replaced(good, "\"format\": 1", "\"format\": 2"), "here"),
                    Catch::Contains("here: written in format 2"));
  CHECK_THROWS_WITH(parse_manifest(replaced(good, "\"step\": 120", "\"step\": 121"), "here"),
                    Catch::Contains("changed by hand"));
  CHECK_THROWS_WITH(parse_manifest("[]", "here"), Catch::Contains("not a checkpoint manifest"));
}

TEST_CASE("a manifest cannot name a file outside its folder") {
  for (const char* name : {"../model.safetensors", "/etc/passwd", "a/b", "", ".", "..", ".hidden", "manifest.json", "a b"}) {
    Manifest manifest = sample_manifest();
    manifest.files.front().name = name;
    INFO(name);
    CHECK_THROWS_WITH(parse_manifest(format_manifest(manifest), "here"), Catch::Contains("not a plain file name"));
  }
}
