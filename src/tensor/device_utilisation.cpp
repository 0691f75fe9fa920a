#include "ddpkit/tensor/device_utilisation.hpp"

#include <dlfcn.h>

#include <charconv>

namespace ddpkit {
namespace {

constexpr int kSuccess = 0;

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

std::optional<unsigned> as_number(const std::string& text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

/// The functions of NVML that are used, and the library as long as they are.
struct DeviceUtilisation::Library {
  /// nvmlUtilization_t, in percent.
  struct Rates {
    unsigned gpu = 0;
    unsigned memory = 0;
  };
  struct CloseLibrary {
    void operator()(void* handle) const noexcept { dlclose(handle); }
  };

  std::unique_ptr<void, CloseLibrary> handle;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_index)(unsigned, void**) = nullptr;
  int (*by_bus_id)(const char*, void**) = nullptr;
  int (*by_uuid)(const char*, void**) = nullptr;
  int (*rates)(void*, Rates*) = nullptr;
  bool started = false;

  explicit Library(const std::string& name) : handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (started) shutdown();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool start() {
    void* const from = handle.get();
    const bool complete =
        from != nullptr && find(from, "nvmlInit_v2", init) && find(from, "nvmlShutdown", shutdown) &&
        find(from, "nvmlDeviceGetHandleByIndex_v2", by_index) && find(from, "nvmlDeviceGetHandleByPciBusId_v2", by_bus_id) &&
        find(from, "nvmlDeviceGetHandleByUUID", by_uuid) && find(from, "nvmlDeviceGetUtilizationRates", rates);
    return started = complete && init() == kSuccess;
  }

  void* device(const std::string& name) const {
    void* found = nullptr;
    const auto number = as_number(name);
    const bool bus_id = name.find(':') != std::string::npos;
    const int status = number   ? by_index(*number, &found)
                       : bus_id ? by_bus_id(name.c_str(), &found)
                                : by_uuid(name.c_str(), &found);
    return status == kSuccess ? found : nullptr;
  }
};

std::unique_ptr<DeviceUtilisation> DeviceUtilisation::open(const std::string& device, const std::string& library) {
  auto loaded = std::make_unique<Library>(library);
  void* const found = loaded->start() ? loaded->device(device) : nullptr;
  if (found == nullptr) return nullptr;
  return std::unique_ptr<DeviceUtilisation>(new DeviceUtilisation(std::move(loaded), found));
}

DeviceUtilisation::DeviceUtilisation(std::unique_ptr<Library> library, void* device)
    : library_(std::move(library)), device_(device) {}

DeviceUtilisation::~DeviceUtilisation() = default;

std::optional<double> DeviceUtilisation::read() const {
  Library::Rates rates;
  if (library_->rates(device_, &rates) != kSuccess) return std::nullopt;
  return rates.gpu / 100.0;
}

std::string nvml_name(int index, std::string_view visible_devices) {
  std::string_view rest = visible_devices;
  for (int i = 0; i < index && !rest.empty(); ++i) {
    const auto comma = rest.find(',');
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  const std::string_view name = rest.substr(0, rest.find(','));
  const auto first = name.find_first_not_of(' '), last = name.find_last_not_of(' ');
  if (first == std::string_view::npos) return std::to_string(index);
  return std::string(name.substr(first, last - first + 1));
}

}  // namespace ddpkit
