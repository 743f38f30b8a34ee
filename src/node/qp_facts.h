// What one queue pair of a NIC tells of itself.
#pragma once

#include "nic/qp.h"
#include "node/facts.h"

namespace mrc::node {

/// Everything but the peer's address and the profiles, which are the caller's to know. REQUIRES: nobody else
/// uses the NIC meanwhile.
QpFacts facts_of(nic::Qp& qp, bool with_evs);

}  // namespace mrc::node
