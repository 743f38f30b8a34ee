// Output files: whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mrc::scenario {

/// Writes beside `path` and renames: whoever reads it sees the old file or all of the new one.
Status write_file(const std::string& path, std::string_view text);
/// Could it be written? Asked before a long run rather than after.
Status can_write(const std::string& path);

}  // namespace mrc::scenario
