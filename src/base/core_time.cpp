#include "ddpkit/base/core_time.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

// Fields of a line of /proc/stat after its name; guest time, further on, is in user time already (proc(5)).
enum Field { user, nice_user, system, idle, io_wait, irq, soft_irq, steal, field_count };

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double used_by(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

}  // namespace

std::optional<CoreTime> core_time(std::span<const int> cores, const std::filesystem::path& root) {
  std::ifstream file(root / "proc/stat");
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  CoreTime all;
  std::size_t found = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (std::ranges::none_of(cores, [&](int core) { return name == text("cpu", core); })) continue;
    std::vector<double> fields(field_count);
    for (double& field : fields) words >> field;
    if (!words) return std::nullopt;
    ++found;
    for (const double field : fields) all.total += field / ticks;
    fields[idle] = fields[io_wait] = 0;
    for (const double field : fields) all.busy += field / ticks;
  }
  return found > 0 && found == cores.size() ? std::optional(all) : std::nullopt;
}

double own_core_seconds() {
  return used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
}

}  // namespace ddpkit
