#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Name and value of what a figure depends on.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// This machine and its libraries: processor, cores, cache, binding, load, kernel, compiler, ddpkit, MPI.
Facts describe_machine();

}  // namespace bench
