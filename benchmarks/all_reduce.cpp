// mpirun -np 2 build/benchmarks/all_reduce
//
// How fast gradients that lie in memory of the communicator are summed, against MPI and gloo on memory of their own, and
// against the memory traffic that the sum cannot avoid. On 4 ranks: what is left of that when ranks outnumber cores.
#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/comm/communicator.hpp"
#include "ddpkit/comm/mpi/wrap.hpp"
#include "harness/add_rate.hpp"
#include "harness/handshake.hpp"
#include "harness/main.hpp"

namespace {

using ddpkit::text;

constexpr char kAdding[] = "adding in place";
constexpr char kHandshake[] = "a bare handshake";

struct Size {
  std::size_t bytes;
  std::string title = "all-reduce " + ddpkit::bytes_figure(static_cast<double>(bytes));
  std::size_t count() const { return bytes / sizeof(float); }
};

// Small whole numbers, whose sum over the ranks is exact in any order.
void fill(std::span<float> data, int rank) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 97 + static_cast<std::size_t>(rank));
}

void check(std::span<const float> data, int ranks, const std::string& what) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto expected =
        static_cast<float>(i % 97 * static_cast<std::size_t>(ranks)) + static_cast<float>(ranks * (ranks - 1)) / 2;
    if (data[i] != expected) throw ddpkit::DataError(text(what, ": element ", i, " is ", data[i], ", expected ", expected));
  }
}

// Checks a sum in place once, then times it on zeros, which stay what they are.
void add_checked(bench::Rounds& rounds, const bench::Team& team, const std::string& name, std::span<float> data,
                 std::function<void()> sum) {
  fill(data, team.rank());
  team.barrier();
  sum();
  check(data, team.size(), name);
  team.barrier();
  std::ranges::fill(data, 0.0F);
  rounds.add(name, bench::repeat(std::move(sum)));
}

void sum_with_iallreduce(std::span<float> data, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Variants of one size. The memory of all of them lives as long as the rounds.
class Case {
 public:
  Case(const bench::Session& session, ddpkit::Communicator& comm, const Size& size)
      : size_(size),
        memory_(comm.allocate(size.bytes)),
        blocking_(size.count()),
        nonblocking_(size.count()),
        rounds(session.rounds(21)) {
    const MPI_Comm mpi = session.team.comm();
    const ddpkit::Buffer shared = ddpkit::Buffer::in(memory_, 0, size.count(), ddpkit::DType::float32);
    add_checked(rounds, session.team, "ddpkit", {static_cast<float*>(shared.data), shared.count},
                [&comm, shared] { comm.all_reduce(shared, ddpkit::ReduceOp::sum).wait(); });
    add_checked(rounds, session.team, "MPI_Allreduce", blocking_, [this, mpi] {
      MPI_Allreduce(MPI_IN_PLACE, blocking_.data(), static_cast<int>(blocking_.size()), MPI_FLOAT, MPI_SUM, mpi);
    });
    add_checked(rounds, session.team, "MPI_Iallreduce", nonblocking_, [this, mpi] { sum_with_iallreduce(nonblocking_, mpi); });
  }

  const Size& size() const { return size_; }

 private:
  Size size_;
  ddpkit::Memory memory_;
  std::vector<float> blocking_;
  std::vector<float> nonblocking_;

 public:
  bench::Rounds rounds;
};

// How much faster than the rival anyone could be at most.
std::optional<bench::Floor> floor_against(const bench::Rounds& rounds, const std::string& rival) {
  for (const char* floor : {kHandshake, kAdding})
    if (rounds.has(floor) && rival != floor) return bench::Floor{rounds.compare(floor, rival, bench::speed_up).value, floor};
  return {};
}

void report_speed_up(bench::Session& session, const Case& c, const std::string& id, const std::string& rival, double target) {
  session.report.add({.id = id,
                      .what = text(c.size().title, ", ", session.team.size(), " ranks"),
                      .against = rival,
                      .target = bench::at_least(target),
                      .measured = c.rounds.compare("ddpkit", rival, bench::speed_up),
                      .floor = floor_against(c.rounds, rival)});
}

// Every rank reads its slice of all ranks' memory and writes it to all: 2 p S bytes on the node, at the rate of adding.
void add_floor(bench::Rounds& rounds, const bench::Session& session, std::size_t bytes) {
  const int ranks = session.team.size();
  const auto add = std::make_shared<bench::AddRate>(bytes / 2);
  const double moved = 2.0 * ranks * static_cast<double>(bytes);
  rounds.add(kAdding, [add, ranks, moved](int iterations) {
    const double seconds = add->seconds(iterations);
    return seconds * moved / (add->bytes_moved() * ranks);
  });
}

void run_large(bench::Session& session, ddpkit::Communicator& comm) {
  Case c(session, comm, {25 << 20});
  if (!session.wants(c.size().title)) return;
  add_floor(c.rounds, session, c.size().bytes);
  if (session.rival != nullptr)
    c.rounds.add("gloo", [&](int n) { return session.rival->block(std::to_string(c.size().bytes), n); });
  c.rounds.run();
  session.report.keep(c.size().title, c.rounds.samples());
  report_speed_up(session, c, "C1", "MPI_Allreduce", 3.3);
  bench::Row gloo{.id = "C2", .what = c.size().title + ", 2 ranks", .against = "gloo", .target = bench::at_least(6)};
  if (session.rival == nullptr) {
    gloo.note = session.no_rival_because;
    session.report.add(gloo);
  } else {
    report_speed_up(session, c, "C2", "gloo", 6);
  }
  report_speed_up(session, c, "C2", "MPI_Iallreduce", 5);
  report_speed_up(session, c, "C3", kAdding, 0.65);
}

// What any sum of few numbers in shared memory takes, where ranks need not make room for each other.
void add_handshake(bench::Rounds& rounds, const bench::Session& session, ddpkit::Communicator& comm, const Size& size) {
  ddpkit::Memory memory = comm.allocate(bench::Handshake::bytes_for(size.count()));
  if (memory.parts().size() != static_cast<std::size_t>(session.team.size())) return;
  const auto handshake = std::make_shared<bench::Handshake>(std::move(memory), comm.rank(), size.count());
  session.team.barrier();
  rounds.add(kHandshake, bench::repeat([handshake] { handshake->sum(); }));
}

void run_one(bench::Session& session, ddpkit::Communicator& comm, std::size_t bytes, const std::string& id, double target) {
  const Size size{bytes};
  if (!session.wants(size.title)) return;
  Case c(session, comm, size);
  if (bytes >= 1 << 20) {
    add_floor(c.rounds, session, bytes);
  } else {
    add_handshake(c.rounds, session, comm, size);
  }
  c.rounds.run();
  session.report.keep(size.title, c.rounds.samples());
  report_speed_up(session, c, id, "MPI_Allreduce", target);
}

void measure(bench::Session& session) {
  const auto comm = ddpkit::wrap_mpi_communicator(session.team.comm());
  if (session.team.size() > 2) return run_one(session, *comm, 25 << 20, "C17", 1.8);
  run_large(session, *comm);
  if (session.effort == bench::Effort::full || !session.only.empty()) {
    run_one(session, *comm, 1 << 20, "C1b", 5);
    run_one(session, *comm, 64 << 20, "C1b", 4);
  }
  run_one(session, *comm, 1 << 10, "C4", 1.2);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, {.name = "all_reduce", .rival_script = "gloo_all_reduce.py"}, measure);
}
