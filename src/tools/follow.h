// `mrc dump --follow`: finds a queue pair's conversation in a capture and tells its story.
#pragma once

#include <string>

#include "wire/settings.h"

namespace mrc::tools {

/// `whom`: "QPN" or "QPN@ADDRESS". Returns the exit status.
int follow(const std::string& file, const std::string& whom, bool json, const wire::Settings& settings);

}  // namespace mrc::tools
