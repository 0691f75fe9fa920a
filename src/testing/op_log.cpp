#include "ddpkit/testing/op_log.hpp"

#include <algorithm>
#include <utility>

#include "ddpkit/base/text.hpp"

namespace ddpkit::testing {

std::string describe(const OpRecord& record) {
  return text(name_of(record.kind), " ", record.count, " ", name_of(record.dtype), record.tag.empty() ? "" : " ", record.tag);
}

void OpLog::add(OpRecord record) {
  const std::lock_guard lock(mutex_);
  records_.push_back(std::move(record));
}

void OpLog::clear() {
  const std::lock_guard lock(mutex_);
  records_.clear();
}

std::vector<OpRecord> OpLog::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

std::size_t OpLog::count(Collective kind) const {
  const std::lock_guard lock(mutex_);
  const auto of_kind = [kind](const OpRecord& record) { return record.kind == kind; };
  return static_cast<std::size_t>(std::count_if(records_.begin(), records_.end(), of_kind));
}

}  // namespace ddpkit::testing
