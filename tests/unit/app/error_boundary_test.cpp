#include "app/error_boundary.hpp"

#include <c10/util/Exception.h>

#include "ddpkit/comm/make_communicator.hpp"
#include "support/captured_stderr.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

/// How a job of one rank ends whose body does this, and what it said.
std::pair<ExitStatus, std::string> end_of(const std::function<ExitStatus()>& body) {
  const testing::CapturedStderr captured;
  const auto comm = make_communicator({.backend = Backend::local});
  Logger log({});
  const ExitStatus status = with_error_boundary(*comm, log, body);
  return {status, captured.text()};
}

template <class E>
std::pair<ExitStatus, std::string> end_by(E error) {
  return end_of([&]() -> ExitStatus { throw error; });
}

}  // namespace

TEST_CASE("whatever a program throws becomes the status of its kind, with its words") {
  const auto [status, words] = end_of([] { return ExitStatus::stopped; });
  CHECK(status == ExitStatus::stopped);
  CHECK(words.empty());
  CHECK(end_by(ConfigError("no such key")).first == ExitStatus::config);
  CHECK_THAT(end_by(ConfigError("no such key")).second, Catch::Contains("error") && Catch::Contains("no such key"));
  CHECK(end_by(DataError("cut off")).first == ExitStatus::data);
  CHECK(end_by(StorageError("full")).first == ExitStatus::storage);
  CHECK(end_by(UsageError("twice")).first == ExitStatus::usage);
  CHECK(end_by(CommError("late", ExitStatus::timeout)).first == ExitStatus::timeout);
  CHECK(end_by(on_all_ranks(Error("nan", ExitStatus::diverged))).first == ExitStatus::diverged);
  CHECK(end_by(std::runtime_error("own")).first == ExitStatus::internal);
  CHECK(end_by(5).first == ExitStatus::internal);
}

TEST_CASE("LibTorch's errors are told without their stack frames") {
  const auto end = end_of([]() -> ExitStatus {
    TORCH_CHECK(false, "shapes do not fit");
    return ExitStatus::ok;
  });
  CHECK(end.first == ExitStatus::internal);
  CHECK_THAT(end.second, Catch::Contains("shapes do not fit") && !Catch::Contains("frame #"));
  const auto memory = end_of([]() -> ExitStatus {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "12 GiB");
    return ExitStatus::ok;
  });
  CHECK(memory.first == ExitStatus::memory);
  CHECK_THAT(memory.second, Catch::Contains("out of memory") && Catch::Contains("12 GiB") && Catch::Contains("memory.limit"));
}

}  // namespace ddpkit
