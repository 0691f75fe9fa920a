#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace ddpkit {

enum class LogLevel { debug, info, warning, error };

/// One line per record: time, level, `[rank 3/8]`, component, text. Information comes from rank 0 only, warnings and errors
/// from every rank. Goes to standard error, so that standard output stays machine-readable. Thread-safe.
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

 private:
  class Sinks;
  void write(LogLevel level, std::string_view component, std::string_view text);

  Options options_;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace ddpkit
