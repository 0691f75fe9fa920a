#include "ddpkit/checkpoint/replace_file.hpp"

#include "checkpoint/folder.hpp"
#include "checkpoint/output_file.hpp"

namespace ddpkit {

void replace_file(const std::filesystem::path& path, std::string_view content) {
  std::error_code missing;
  const std::filesystem::path real = std::filesystem::canonical(path, missing);
  const std::filesystem::path target = missing ? std::filesystem::absolute(path) : real;
  const std::filesystem::path partial = hidden_sibling(target, "tmp");
  discard(partial);  // of an earlier process of this number that was killed
  try {
    OutputFile file(partial);
    file.write(content);
    file.finish();
    if (!missing) std::filesystem::permissions(partial, std::filesystem::status(target).permissions());
    publish(partial, target);
  } catch (...) {
    discard(partial);
    throw;
  }
}

}  // namespace ddpkit
