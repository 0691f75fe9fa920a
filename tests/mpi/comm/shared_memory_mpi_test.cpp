// Memory that the ranks of a node cannot share, for want of room or of rights.
#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <vector>

#include "ddpkit/comm/make_communicator.hpp"
#include "support/captured_stderr.hpp"
#include "support/catch.hpp"

using namespace ddpkit;

namespace {

constexpr CommOptions kMpi{.backend = Backend::mpi, .timeout = std::chrono::seconds(20)};
constexpr std::size_t kBytes = std::size_t(16) << 20;

/// Lowers a limit of this process, and raises it again.
class Limit {
 public:
  Limit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    getrlimit(resource_, &before_);
    const rlimit lowered{value, before_.rlim_max};
    setrlimit(resource_, &lowered);
  }
  ~Limit() { setrlimit(resource_, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

std::vector<Memory> allocate_two(Communicator& comm) {
  std::vector<Memory> memories{comm.allocate(kBytes)};
  memories.push_back(comm.allocate(kBytes / 2));
  return memories;
}

void require_sums(Communicator& comm, const Memory& memory) {
  const Buffer data = Buffer::in(memory, 0, 100'000, DType::float32);
  std::fill_n(static_cast<float*>(data.data), data.count, 1.0F);
  comm.all_reduce(data, ReduceOp::sum).wait();
  CHECK(static_cast<const float*>(data.data)[99'999] == static_cast<float>(comm.world_size()));
}

std::size_t occurrences(const std::string& text, const std::string& words) {
  std::size_t found = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
  return found;
}

void require_private_memory(Communicator& comm, const std::vector<Memory>& memories, const std::string& log) {
  for (const Memory& memory : memories) {
    CHECK(memory.parts().empty());
    require_sums(comm, memory);
  }
  CHECK(occurrences(log, "cannot share memory") == (comm.topology().local_rank == 0 ? 1U : 0U));
}

}  // namespace

TEST_CASE("a rank that has no room to map the others' memory sends all through MPI, and the log says so once") {
  const auto comm = make_communicator(kMpi);
  if (comm->world_size() == 1) return;
  const testing::CapturedStderr captured;
  std::vector<Memory> memories;
  if (comm->rank() == comm->world_size() - 1) {
    const Limit limit(RLIMIT_AS, address_space() + kBytes / 4 * 7);  // its own fit, not those of all
    memories = allocate_two(*comm);
  } else {
    memories = allocate_two(*comm);
  }
  require_private_memory(*comm, memories, captured.text());
}

TEST_CASE("a node without room for shared memory sends all through MPI, and the log says why") {
  const auto comm = make_communicator(kMpi);
  if (comm->world_size() == 1) return;
  const testing::CapturedStderr captured;
  signal(SIGXFSZ, SIG_IGN);
  std::vector<Memory> memories;
  {
    const Limit limit(RLIMIT_FSIZE, 1 << 20);
    memories = allocate_two(*comm);
  }
  signal(SIGXFSZ, SIG_DFL);
  require_private_memory(*comm, memories, captured.text());
  if (comm->topology().local_rank == 0) CHECK_THAT(captured.text(), Catch::Matchers::Contains("File too large"));
}

TEST_CASE("a node without room even for the board works through MPI") {
  std::unique_ptr<Communicator> comm;
  const testing::CapturedStderr captured;
  signal(SIGXFSZ, SIG_IGN);
  {
    const Limit limit(RLIMIT_FSIZE, 1000);
    comm = make_communicator(kMpi);
  }
  signal(SIGXFSZ, SIG_DFL);
  const Memory memory = comm->allocate(kBytes);
  CHECK(memory.parts().empty());
  require_sums(*comm, memory);
  comm->barrier();
  const bool speaks = comm->topology().local_rank == 0 && comm->world_size() > 1;
  CHECK(occurrences(captured.text(), "cannot share memory") == (speaks ? 1U : 0U));
}

TEST_CASE("memory that ranks share shows each rank what the others have, and lives as long as one of them holds it") {
  auto comm = make_communicator(kMpi);
  if (comm->world_size() == 1) return;
  Memory memory = comm->allocate(4096);
  REQUIRE(memory.parts().size() == static_cast<std::size_t>(comm->world_size()));
  *memory.data() = static_cast<std::byte>(comm->rank() + 1);
  comm->barrier();
  for (int rank = 0; rank < comm->world_size(); ++rank)
    CHECK(*memory.parts()[static_cast<std::size_t>(rank)] == static_cast<std::byte>(rank + 1));
  comm->barrier();
  const int last = comm->world_size() - 1;
  if (comm->rank() != last) memory = {};
  comm->barrier();
  if (comm->rank() == last) CHECK(*memory.parts()[0] == std::byte{1});
}
