#include "harness/machine.hpp"

#include <mpi.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/base/version.hpp"

namespace bench {
namespace {

// The value behind the first line of a "key : value" file that begins with `key`.
std::string value_in(const char* file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// As the kernel tells it: sysconf believes the processor, which inside a virtual machine speaks of the whole host.
std::string last_cache() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  double kib = 0;
  return file >> kib ? ddpkit::bytes_figure(kib * 1024) : "unknown";
}

std::string allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  const int allowed = CPU_COUNT(&set);
  const long all = sysconf(_SC_NPROCESSORS_ONLN);
  return ddpkit::text(allowed, " of ", all, allowed < all ? ", bound" : ", not bound");
}

std::string load_average() {
  std::array<double, 3> loads{};
  getloadavg(loads.data(), 3);
  return ddpkit::text(ddpkit::fixed_figure(loads[0], 2), " ", ddpkit::fixed_figure(loads[1], 2), " ",
                      ddpkit::fixed_figure(loads[2], 2));
}

std::string kernel() {
  utsname name{};
  uname(&name);
  return ddpkit::text(name.sysname, " ", name.release, " ", name.machine);
}

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  return std::string(version.data()).substr(0, std::string(version.data()).find(','));
}

}  // namespace

Facts describe_machine() {
  return {{"processor", value_in("/proc/cpuinfo", "model name")},
          {"cores", allowed_cores()},
          {"last cache", last_cache()},
          {"memory", ddpkit::bytes_figure(static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE))},
          {"load average", load_average()},
          {"kernel", kernel()},
          {"compiler", "g++ " __VERSION__},
          {"ddpkit", ddpkit::text(ddpkit::version())},
          {"MPI", mpi_version()}};
}

}  // namespace bench
