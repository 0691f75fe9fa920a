#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "ddpkit/base/dtype.hpp"
#include "ddpkit/comm/signature.hpp"

namespace ddpkit::testing {

/// One operation as it was issued. `count` is that of the smaller buffer, 0 for barrier and split, bytes for allocate.
struct OpRecord {
  Collective kind = Collective::barrier;
  std::size_t count = 0;
  DType dtype = DType::uint8;
  std::string tag;

  friend bool operator==(const OpRecord&, const OpRecord&) = default;
};

/// "all_reduce 3 float32 bucket 0", for test output.
std::string describe(const OpRecord& record);

/// The operations of a LoggedCommunicator in the order in which they were issued. Thread-safe.
class OpLog {
 public:
  void add(OpRecord record);
  void clear();
  std::vector<OpRecord> records() const;
  std::size_t count(Collective kind) const;

 private:
  mutable std::mutex mutex_;
  std::vector<OpRecord> records_;
};

}  // namespace ddpkit::testing
