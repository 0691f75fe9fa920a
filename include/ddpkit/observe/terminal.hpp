#pragma once

#include <functional>
#include <string_view>

namespace ddpkit {

/// What standard error leads to.
struct Terminal {
  enum class Kind {
    stream,  ///< a file, a pipe or a terminal that cannot move its cursor: whole lines only
    screen,  ///< a line can be drawn again
  };
  Kind kind = Kind::stream;
  std::function<int()> columns;                 ///< present width in characters
  std::function<void(std::string_view)> write;  ///< unbuffered; what cannot be written is lost
};

/// Standard error of this process. Under mpirun it is a pipe to the launcher even when the person sits at a terminal: then the
/// launcher's own standard error decides, where this process may look at it.
Terminal standard_error();

}  // namespace ddpkit
