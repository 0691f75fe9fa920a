#pragma once

#include <stdexcept>
#include <string>

#include "ddpkit/base/exit_status.hpp"

namespace ddpkit {

/// Root of all exceptions that ddpkit throws. A message tells what, where, expected, got, and a hint.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitStatus status = ExitStatus::internal)
      : std::runtime_error(message), status_(status) {}

  /// The status with which the whole job ends when nobody catches this.
  ExitStatus status() const noexcept { return status_; }

  /// Whether every rank throws this same error at the same point, so that the job can end in order: one report, no abort.
  bool on_all_ranks() const noexcept { return on_all_ranks_; }
  void mark_on_all_ranks() noexcept { on_all_ranks_ = true; }

 private:
  ExitStatus status_;
  bool on_all_ranks_ = false;
};

/// `throw on_all_ranks(CommError(...))`: for what all ranks found out together.
template <class E>
E on_all_ranks(E error) {
  error.mark_on_all_ranks();
  return error;
}

/// The run file, an option or an override is wrong.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& message) : Error(message, ExitStatus::config) {}
};

/// A data set is missing, cut off, or holds values that cannot be.
class DataError : public Error {
 public:
  explicit DataError(const std::string& message) : Error(message, ExitStatus::data) {}
};

/// A collective failed: a peer is lost, it timed out (ExitStatus::timeout), or ranks disagree (ExitStatus::disagree).
class CommError : public Error {
 public:
  explicit CommError(const std::string& message, ExitStatus status = ExitStatus::peer_lost) : Error(message, status) {}
};

/// A file could not be read or written.
class StorageError : public Error {
 public:
  explicit StorageError(const std::string& message) : Error(message, ExitStatus::storage) {}
};

/// A function was called in a way its contract forbids, or a program was started with a wrong command line.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ExitStatus::usage) {}
};

}  // namespace ddpkit
