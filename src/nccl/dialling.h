// The side that connects: attempts under way, found again by the ticket in NCCL's handle.
#pragma once

#include <memory>

#include "nccl/handle.h"
#include "nccl/sender.h"

namespace mrc::nccl {

/// The sender, or null while the attempt is under way: call again with the same handle. `ticket` of the
/// handle is ours to write.
Result<std::unique_ptr<Sender>> dial(const Adapter& adapter, Handle& handle, int traffic_class);

}  // namespace mrc::nccl
