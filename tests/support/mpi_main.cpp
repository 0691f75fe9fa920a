// Main of the tests that run under mpirun. A failure on any rank fails every rank. A failed rank whose peers are still inside a
// collective ends the job after a grace period instead of letting CTest wait for its time limit.
#define CATCH_CONFIG_RUNNER
#include <mpi.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <thread>

namespace {

constexpr double kGraceSeconds = 5;

struct Verdict {
  MPI_Comm comm = MPI_COMM_NULL;  // never used by the code under test
  int rank = 0;
  bool failed_anywhere = false;
};
Verdict& verdict() {
  static Verdict instance;
  return instance;
}

struct AgreeOnFailure : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    TestEventListenerBase::testCaseEnded(stats);
    const int mine = stats.totals.assertions.failed > 0 ? 1 : 0;
    int any = 0;
    int done = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&mine, &any, 1, MPI_INT, MPI_MAX, verdict().comm, &request);
    const double deadline = MPI_Wtime() + kGraceSeconds;
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
      if (mine != 0 && MPI_Wtime() > deadline) {
        std::cout.flush();
        std::cerr << "[rank " << verdict().rank << "] '" << stats.testInfo.name
                  << "' failed here while other ranks still wait\n";
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
      std::this_thread::yield();
    }
    verdict().failed_anywhere |= any != 0;
  }
};
CATCH_REGISTER_LISTENER(AgreeOnFailure)

int run_session(int argc, char** argv) {
  Catch::Session session;
  const int usage = session.applyCommandLine(argc, argv);
  if (usage != 0) return usage;
  session.configData().runOrder = Catch::RunTests::InDeclarationOrder;
  return session.run();
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_dup(MPI_COMM_WORLD, &verdict().comm);
  MPI_Comm_rank(MPI_COMM_WORLD, &verdict().rank);
  int status = run_session(argc, argv);
  if (status == 0 && verdict().failed_anywhere) status = 1;
  int worst = 0;
  MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, verdict().comm);
  MPI_Comm_free(&verdict().comm);
  MPI_Finalize();
  return worst > 255 ? 255 : worst;
}
