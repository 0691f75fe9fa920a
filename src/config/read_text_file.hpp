#pragma once

#include <string>

namespace ddpkit {

/// The content of a file for read_yaml: of one that is too large, just enough for it to be refused. `what` is the file's role
/// in messages: "the run file". Throws StorageError that says why it cannot be read.
std::string read_text_file(const std::string& path, const char* what);

}  // namespace ddpkit
