#include "comm/mpi/check.hpp"

#include <mpi.h>

#include <cstdio>
#include <string_view>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::mpi {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char words[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, words, &length);
  throw CommError(text(call, " failed: ", std::string_view(words, static_cast<std::size_t>(length))));
}

void check_quietly(int code, const char* call) noexcept {
  if (code != MPI_SUCCESS) std::fprintf(stderr, "%s failed with MPI error code %d\n", call, code);
}

}  // namespace ddpkit::mpi
