#pragma once

#include <string_view>

namespace ddpkit {

/// Whether a checkpoint may hold a file of that name: letters, digits, '.', '_' and '-', not hidden, not the manifest's name.
/// So no name leads out of the checkpoint's folder.
bool is_plain_name(std::string_view name);

}  // namespace ddpkit
