// Why the last call of this thread failed: errno says too little, and openmrc_error() says it.
#pragma once

#include <string>

namespace mrc::lib {

void note_failure(const std::string& sentence);
const char* last_failure();

}  // namespace mrc::lib
