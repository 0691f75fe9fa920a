#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "ddpkit/base/error.hpp"
#include "ddpkit/config/load_config.hpp"

namespace ddpkit::test {

/// A run file in a folder of its own, both gone at the end of the scope.
class RunFile {
 public:
  explicit RunFile(const std::string& content) {
    std::string folder = (std::filesystem::temp_directory_path() / "ddpkit_config_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw StorageError("no temporary folder");
    folder_ = folder;
    write(content);
  }
  ~RunFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  void write(const std::string& content) const {
    std::filesystem::remove(path());  // ext4 flushes a file that is cut to nothing and written again
    std::ofstream(path(), std::ios::binary) << content;
  }
  std::string path() const { return (folder_ / "run.yaml").string(); }
  std::string folder() const { return folder_.string() + "/"; }

 private:
  std::filesystem::path folder_;
};

/// Loads `yaml` as a file.
inline LoadedConfig load(const std::string& yaml, std::vector<std::string> overrides = {}, RunConfig program = {}) {
  const RunFile file(yaml);
  return load_config({.file = file.path(), .overrides = std::move(overrides), .program = std::move(program)});
}

/// The whole complaint about `yaml`, in which the file is called run.yaml; empty when there is none.
inline std::string complaint(const std::string& yaml, std::vector<std::string> overrides = {}, RunConfig program = {}) {
  const RunFile file(yaml);
  try {
    load_config({.file = file.path(), .overrides = std::move(overrides), .program = std::move(program)});
    return {};
  } catch (const ConfigError& error) {
    std::string message = error.what();
    for (std::size_t at = message.find(file.folder()); at != std::string::npos; at = message.find(file.folder()))
      message.erase(at, file.folder().size());
    return message;
  }
}

}  // namespace ddpkit::test
