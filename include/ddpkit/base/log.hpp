#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ddpkit {

enum class LogLevel { debug, info, warning, error };

/// One line per record: `14:27:03.123 info  [rank 3/8] trainer: text`, in local time. A text of several lines becomes as many
/// whole lines with the same prefix, so that a filter by rank or level keeps them together. Control characters and escape
/// sequences in the text are shown, not obeyed. Information comes from rank 0 only; warnings and errors, and debug records
/// where they are asked for, from every rank. Goes to standard error, so that standard output stays machine-readable.
///
/// Thread-safe. Never throws for a record that cannot be written.
class Logger {
 public:
  struct Options {
    int rank = 0;
    int world_size = 1;
    LogLevel level = LogLevel::info;  ///< lowest level that is written
  };

  explicit Logger(const Options& options);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  void debug(std::string_view component, std::string_view text);
  void info(std::string_view component, std::string_view text);
  void warning(std::string_view component, std::string_view text);
  void error(std::string_view component, std::string_view text);

  /// From here on every record is appended to the file as well. Throws StorageError when it cannot be opened.
  void also_write_to(const std::string& path);

  /// Calls `hook` before each record that is written, so that whoever draws on the terminal can clear its line. An empty one
  /// removes it. The hook must not log.
  void before_each_record(std::function<void()> hook);

 private:
  class Sinks;
  void write(LogLevel level, std::string_view component, std::string_view text);

  Options options_;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace ddpkit
