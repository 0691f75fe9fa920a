#include "comm/mpi/runtime.hpp"

#include <mpi.h>
#include <signal.h>

#include <chrono>
#include <exception>

#include "comm/end_process.hpp"
#include "comm/mpi/check.hpp"
#include "comm/mpi/open_mpi_settings.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {
namespace {

constexpr std::chrono::milliseconds kAbortGrace{250};

// The key under which MPI keeps the runtime. MPI numbers keys when the program runs; the number then never changes.
int attribute_key() {
  static const int key = [] {
    int created = MPI_KEYVAL_INVALID;
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &created, nullptr), "MPI_Comm_create_keyval");
    return created;
  }();
  return key;
}

Runtime* remembered() {
  void* runtime = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(MPI_COMM_SELF, attribute_key(), &runtime, &found), "MPI_Comm_get_attr");
  return found != 0 ? static_cast<Runtime*>(runtime) : nullptr;
}

bool is_initialized() {
  int finalized = 0;
  check(MPI_Finalized(&finalized), "MPI_Finalized");
  if (finalized != 0) throw CommError("MPI has been finalized in this process and cannot start again", ExitStatus::usage);
  int initialized = 0;
  check(MPI_Initialized(&initialized), "MPI_Initialized");
  return initialized != 0;
}

void check_threads(int provided) {
  if (provided >= MPI_THREAD_SERIALIZED) return;
  throw CommError(text("MPI allows calls from the main thread only (level ", provided, "), but the communication thread needs ",
                       "MPI_THREAD_SERIALIZED (", MPI_THREAD_SERIALIZED, "); call MPI_Init_thread, not MPI_Init"),
                  ExitStatus::usage);
}

// Signals are for the main thread, which has handlers and polls their flags.
std::thread start_without_signals(std::shared_ptr<OperationQueue> queue) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([queue = std::move(queue)] { queue->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

std::shared_ptr<Runtime> Runtime::acquire() {
  if (is_initialized())
    if (Runtime* known = remembered()) return known->shared_from_this();
  return std::make_shared<Runtime>();
}

Runtime::Owner Runtime::start_mpi() {
  int provided = 0;
  if (is_initialized()) {
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
    check_threads(provided);
    return Owner::program;
  }
  prepare_open_mpi();
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  check_threads(provided);
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return Owner::runtime;
}

Runtime::Runtime()
    : owner_(start_mpi()),
      exceptions_at_start_(std::uncaught_exceptions()),
      main_thread_(std::this_thread::get_id()),
      queue_(std::make_shared<OperationQueue>()) {
  check(MPI_Comm_set_attr(MPI_COMM_SELF, attribute_key(), this), "MPI_Comm_set_attr");
  thread_ = start_without_signals(queue_);
}

Runtime::~Runtime() {
  const bool orderly = in_order();
  stop_thread();
  check_quietly(MPI_Comm_delete_attr(MPI_COMM_SELF, attribute_key()), "MPI_Comm_delete_attr");
  if (orderly && owner_ == Owner::runtime) check_quietly(MPI_Finalize(), "MPI_Finalize");
}

bool Runtime::in_order() const {
  return !queue_->failed() && std::uncaught_exceptions() <= exceptions_at_start_ && std::this_thread::get_id() == main_thread_;
}

// A thread that is stuck inside MPI cannot be joined; it shares nothing with us but the queue.
void Runtime::stop_thread() {
  const bool idle = queue_->idle();
  queue_->close();
  if (idle)
    thread_.join();
  else
    thread_.detach();
}

std::shared_ptr<Channel> Runtime::open(std::shared_ptr<Channel> parent, Operation::Plan plan, Group group) {
  const auto opened = std::make_shared<std::shared_ptr<Channel>>();
  plan.body = [parent, opened, group, queue = queue_] { *opened = open_channel(*parent, group, queue); };
  const auto operation = std::make_shared<Operation>(queue_, parent, std::move(plan));
  queue_->push(operation);
  operation->wait();
  return *opened;
}

void Runtime::abort(const Topology& topology, const Error& reason) noexcept {
  report_abort(topology, reason);
  const int status = abort_status(reason.status());
  try {
    queue_->push_urgent([status] { MPI_Abort(MPI_COMM_WORLD, status); });
    std::this_thread::sleep_for(kAbortGrace);
  } catch (const std::exception&) {
    // ends the hard way
  }
  end_process(reason.status());
}

}  // namespace ddpkit::mpi
