#include "app/memory_share.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/agree.hpp"
#include "ddpkit/tensor/memory_limit.hpp"

namespace ddpkit {
namespace {

/// Readings of one moment differ a little between ranks; that is not worth a word.
constexpr double kMuchLess = 0.9;

std::string size_text(std::int64_t bytes) {
  return bytes_figure(static_cast<double>(bytes));
}

std::vector<MemoryShare> gather(Communicator& control, const MemoryShare& mine) {
  std::vector<MemoryShare> shares;
  for (const std::string& packed : gather_texts(control, text(mine.limit, ' ', mine.available, ' ', mine.sharers))) {
    std::istringstream in(packed);
    in >> shares.emplace_back().limit >> shares.back().available >> shares.back().sharers;
  }
  return shares;
}

}  // namespace

MemoryShare share_memory(std::optional<Bytes> wanted, std::optional<std::int64_t> available, std::int64_t sharers) {
  MemoryShare share{.available = available.value_or(0), .sharers = sharers};
  if (available) share.limit = std::max<std::int64_t>(share.fair(), 1);  // 0 would be no limit
  if (wanted) share.limit = wanted->count;
  return share;
}

std::string memory_line(std::span<const MemoryShare> shares) {
  const auto least = std::ranges::min_element(shares, {}, &MemoryShare::limit);
  const auto most = std::ranges::max_element(shares, {}, &MemoryShare::limit);
  if (least->limit == 0) return "memory: no limit, since the system does not tell what it has; set memory.limit";
  const auto rank = least - shares.begin();
  const std::string available = least->available == 0 ? "" : text(" (available ", size_text(least->available), ")");
  if (static_cast<double>(least->limit) < kMuchLess * static_cast<double>(most->limit))
    return text("memory: for tensors of a rank ", size_text(least->limit), " at least, on rank ", rank, available, ", and ",
                size_text(most->limit), " at most, on rank ", most - shares.begin());
  const std::string whose = shares.size() == 1 ? "tensors" : text("tensors of each of ", shares.size(), " ranks");
  return text("memory: ", size_text(least->limit), " for ", whose, available);
}

std::string memory_warning(std::span<const MemoryShare> shares) {
  const auto greedy = std::ranges::find_if(shares, [](const MemoryShare& share) {
    return share.available > 0 && share.limit > std::max<std::int64_t>(share.fair(), 1);
  });
  if (greedy == shares.end()) return "";
  return text("memory.limit: ", size_text(greedy->limit), " is more than rank ", greedy - shares.begin(), " can count on, ",
              size_text(greedy->fair()), "; the system may end the job when it is used up");
}

void limit_memory(Communicator& control, std::optional<Bytes> wanted, c10::Device device, Logger& log) {
  const std::int64_t sharers = device.is_cpu() ? control.topology().local_size : 1;
  const MemoryShare mine = share_memory(wanted, free_memory(device), sharers);
  const bool enforced_already = !device.is_cpu() && !wanted;  // a device's allocator refuses by itself
  if (mine.limit > 0 && !enforced_already) limit_memory(device, Bytes{mine.limit});
  const std::vector<MemoryShare> shares = gather(control, mine);
  log.info("job", memory_line(shares));
  if (const std::string warning = memory_warning(shares); !warning.empty() && control.rank() == 0) log.warning("job", warning);
}

}  // namespace ddpkit
