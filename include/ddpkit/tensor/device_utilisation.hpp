#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ddpkit {

/// How busy one GPU is, as NVIDIA's management library (NVML) tells. The library is loaded at run time, so that a machine
/// without it only lacks the reading. Used from one thread.
class DeviceUtilisation {
 public:
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  /// `device`: a number, a UUID ("GPU-8c2f..."), or a PCI bus id ("0000:3b:00.0"). Null where the library is missing, lacks a
  /// function or does not know the device.
  static std::unique_ptr<DeviceUtilisation> open(const std::string& device, const std::string& library = kLibrary);

  ~DeviceUtilisation();
  DeviceUtilisation(const DeviceUtilisation&) = delete;
  DeviceUtilisation& operator=(const DeviceUtilisation&) = delete;

  /// Part of the driver's last sampling period (1/6 s to 1 s) in which some kernel ran, from 0 to 1. That a kernel ran does not
  /// say that it used the whole device. Nothing where the driver does not tell.
  std::optional<double> read() const;

 private:
  struct Library;
  DeviceUtilisation(std::unique_ptr<Library> library, void* device);

  std::unique_ptr<Library> library_;
  void* device_;
};

/// What NVML knows as the process's CUDA device number `index`, given the value of CUDA_VISIBLE_DEVICES. Pure. CUDA and NVML
/// number alike where all GPUs are of one kind, or CUDA_DEVICE_ORDER is PCI_BUS_ID.
std::string nvml_name(int index, std::string_view visible_devices);

}  // namespace ddpkit
