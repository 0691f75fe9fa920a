#include "app/error_boundary.hpp"

#include <c10/util/Exception.h>

#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

constexpr const char* kMemoryHint =
    "; lower batch.max_micro (or batch.micro), raise memory.limit where there is more, or let the verb tune find what fits";

/// The present exception as one of ours.
Error present_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const c10::OutOfMemoryError& error) {
    return Error(text("out of memory: ", error.what_without_backtrace(), kMemoryHint), ExitStatus::memory);
  } catch (const c10::Error& error) {
    return Error(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return Error(error.what());
  } catch (...) {
    return Error("an exception that is no std::exception");
  }
}

}  // namespace

ExitStatus with_error_boundary(Communicator& control, Logger& log, const std::function<ExitStatus()>& body) {
  try {
    return body();
  } catch (...) {
    const Error error = present_error();
    const bool shared = error.on_all_ranks() || control.world_size() == 1;
    if (!shared) control.abort(error);  // says what happened, and on which rank
    if (control.rank() == 0) log.error("job", error.what());
    return error.status();
  }
}

}  // namespace ddpkit
