// Links of closed comms: they answer their peer until it has closed too, because the last ACK may be lost on
// the way and a peer that repeats its last packet to nobody would report an error for a job that is done.
#pragma once

#include <memory>

#include "nccl/link.h"

namespace mrc::nccl {

/// Returns at once. The goodbye is said when the peer has acknowledged everything. The link goes when the
/// peer has said it too, or after NCCL_OPENMRC_LINGER_MS; a process that exits waits for that.
void part_with(std::unique_ptr<Link> link);

}  // namespace mrc::nccl
