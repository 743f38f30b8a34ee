// The version that mrcd tells.
#pragma once

namespace mrc::daemon {
inline constexpr const char* kVersion = MRC_VERSION;
}
