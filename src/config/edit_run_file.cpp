#include "ddpkit/config/edit_run_file.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/checkpoint/replace_file.hpp"
#include "ddpkit/config/load_config.hpp"
#include "ddpkit/config/print_config.hpp"

namespace ddpkit {
namespace {

std::string whole_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) throw StorageError(text(path, ": the run file cannot be read"));
  return content.str();
}

/// A copy beside the file for as long as it takes to read it.
class Draft {
 public:
  Draft(const std::string& path, const std::string& content) : path_(text(path, ".draft-", ::getpid())) {
    replace_file(path_, content);
  }
  ~Draft() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

std::map<std::string, std::string> values_of(const std::string& path, const RunConfig& program) {
  std::map<std::string, std::string> values;
  for (Fact& fact : config_facts(load_config({.file = path, .program = program}).config))
    values[fact.name] = std::move(fact.value);
  return values;
}

bool reads_as(const std::map<std::string, std::string>& expected, const std::string& path, const std::string& edited,
              const RunConfig& program) {
  const Draft draft(path, edited);
  try {
    return values_of(draft.path(), program) == expected;
  } catch (const ConfigError&) {
    return false;
  }
}

}  // namespace

void edit_run_file(const std::string& path, std::span<const SettingEdit> edits, const RunConfig& program) {
  const std::string edited = edit_settings(whole_text(path), edits);
  std::map<std::string, std::string> expected = values_of(path, program);
  for (const SettingEdit& edit : edits) expected[text(edit.section, '.', edit.key)] = edit.value;
  if (!reads_as(expected, path, edited, program))
    throw ConfigError(
        text(path, ": editing it would change more than the batch, so it stays as it is; write the lines by hand"));
  replace_file(path, edited);
}

}  // namespace ddpkit
