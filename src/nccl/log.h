// NCCL's own log: what the plugin says appears with NCCL_DEBUG=WARN and NCCL_DEBUG=INFO, beside NCCL's lines.
#pragma once

#include <string>

#include "nccl/types.h"

namespace mrc::nccl {

void set_logger(Logger logger);
void warn(const std::string& sentence);
void info(const std::string& sentence);

}  // namespace mrc::nccl
