#pragma once

#include <string>
#include <variant>
#include <vector>

#include "ddpkit/app/job.hpp"

namespace ddpkit {

struct CommandLine {
  Verb verb = Verb::train;
  OutputFormat output = OutputFormat::text;
  LogLevel log_level = LogLevel::info;
  std::string config_file;
  std::vector<std::string> overrides;
  ProbeOptions probe;
  TuneOutput tune;
};

/// Parses the arguments. Text to be printed instead, for --help and --version. Throws UsageError for a wrong command line.
std::variant<CommandLine, std::string> parse_command_line(int argc, char** argv);

}  // namespace ddpkit
