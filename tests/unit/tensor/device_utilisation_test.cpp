#include "ddpkit/tensor/device_utilisation.hpp"

#include "support/catch.hpp"

namespace ddpkit {

TEST_CASE("a GPU is found by number, UUID and bus id, and tells how busy it is") {
  for (const char* name : {"1", "GPU-one", "0000:01:00.0"}) {
    INFO(name);
    const auto utilisation = DeviceUtilisation::open(name, DDPKIT_FAKE_NVML);
    REQUIRE(utilisation != nullptr);
    CHECK(utilisation->read() == 0.73);
  }
}

TEST_CASE("without the library, or with one that is another, there is no reading") {
  CHECK(DeviceUtilisation::open("0", "libno-such-library.so.1") == nullptr);
  CHECK(DeviceUtilisation::open("0", "libm.so.6") == nullptr);
}

TEST_CASE("an unknown GPU has no reading, nor has one whose driver does not tell") {
  CHECK(DeviceUtilisation::open("7", DDPKIT_FAKE_NVML) == nullptr);
  CHECK(DeviceUtilisation::open("GPU-two", DDPKIT_FAKE_NVML) == nullptr);
  const auto silent = DeviceUtilisation::open("0", DDPKIT_FAKE_NVML);
  REQUIRE(silent != nullptr);
  CHECK_FALSE(silent->read().has_value());
}

TEST_CASE("the GPU of a process is looked up among those that it may see") {
  CHECK(nvml_name(2, "") == "2");
  CHECK(nvml_name(0, "3,1") == "3");
  CHECK(nvml_name(1, "3, 1") == "1");
  CHECK(nvml_name(1, "GPU-one,GPU-two") == "GPU-two");
  CHECK(nvml_name(5, "3,1") == "5");
}

}  // namespace ddpkit
